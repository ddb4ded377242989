#include "pods/prepare/image_labels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "bundle/json/writer.hpp"

namespace ocirun::pods {
namespace {

using bundle::in_quotes;

/// The architectures of the App Container specification (aci.md, `labels`), and of images.
struct Machine {
  std::string_view label, architecture, variant;
};
constexpr Machine kMachines[] = {{"amd64", "amd64", ""},     {"i386", "386", ""},
                                 {"aarch64", "arm64", ""},   {"armv6l", "arm", "v6"},
                                 {"armv7l", "arm", "v7"},    {"armv7b", "armbe", "v7"},
                                 {"ppc64le", "ppc64le", ""}, {"ppc64", "ppc64", ""},
                                 {"s390x", "s390x", ""},     {"aarch64_be", "arm64be", ""}};

std::string architecture_of(const Platform& platform) {
  return platform.architecture + (platform.variant.empty() ? "" : "/" + platform.variant);
}

bool is_for_machine(const Platform& platform, std::string_view label) {
  if (label == platform.architecture || label == architecture_of(platform)) return true;
  const auto* const machine = std::ranges::find(kMachines, label, &Machine::label);
  if (machine == std::end(kMachines) || machine->architecture != platform.architecture)
    return false;
  return machine->variant.empty() || platform.variant.empty() ||
         machine->variant == platform.variant;
}

const std::string* find_label(const ImageConfig& image, const std::string& name) {
  const auto found = image.config.labels.find(name);
  return found == image.config.labels.end() ? nullptr : &found->second;
}

/// The value that the image has for a label of the document; nothing if it has none.
std::optional<std::string> said_by(const ImageConfig& image, const std::string& label) {
  if (label == "os") return image.platform.os;
  if (label == "arch") return architecture_of(image.platform);
  const std::string* value = nullptr;
  if (label == "version") value = find_label(image, "org.opencontainers.image.version");
  if (value == nullptr) value = find_label(image, label);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

/// The place of a label's value in the document.
Place place_of(const Container& container, std::string_view label) {
  const bundle::Node* const image = container.image_place->parent;
  const bundle::Node* const labels = image == nullptr ? nullptr : image->find("labels");
  if (labels == nullptr) return container.image_place;
  for (const bundle::Node* item = labels->first; item != nullptr; item = item->next) {
    const bundle::Node* const name = item->find("name");
    const bundle::Node* const value = item->find("value");
    if (name != nullptr && value != nullptr && name->text == label) return value;
  }
  return container.image_place;
}

}  // namespace

Result<void> check_image_labels(const Workload& workload, const Container& container,
                                const ImageConfig& image) {
  std::vector<std::string> sentences;
  for (const auto& [label, value] : container.image_labels) {
    const auto said = said_by(image, label);
    const bool is_same =
        !said || *said == value || (label == "arch" && is_for_machine(image.platform, value));
    if (is_same) continue;
    sentences.push_back(
        fmt::format("{}: the label {} is {}, but the image of the app \"{}\" says {}: --image "
                    "{}=SOURCE names another image, or correct the label",
                    workload.at(place_of(container, label)), in_quotes(label), in_quotes(value),
                    container.name, in_quotes(*said), container.name));
  }
  if (sentences.empty()) return {};
  return refuse("{}", fmt::join(sentences, "; "));
}

std::vector<std::string> unchecked_image_labels(const Workload& workload,
                                                const Container& container,
                                                const ImageConfig& image) {
  std::vector<std::string> sentences;
  for (const auto& [label, value] : container.image_labels)
    if (!said_by(image, label))
      sentences.push_back(
          fmt::format("{}: the label {} is not compared, because the image has no label {}",
                      workload.at(place_of(container, label)), in_quotes(label),
                      in_quotes(label == "version" ? "org.opencontainers.image.version" : label)));
  return sentences;
}

}  // namespace ocirun::pods
