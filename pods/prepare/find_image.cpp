#include "pods/prepare/find_image.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include "bundle/json/writer.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "pods/images/catalogue.hpp"

namespace ocirun::pods {
namespace {

struct SourcePlace {
  HostPath path;
  std::string reference;  // "": the only image of the source
};

bool exists(const std::string& path) { return linux::sys::open(path.c_str(), O_PATH).has_value(); }

/// Words of skopeo for sources that ocirun reads.
constexpr std::array<std::string_view, 3> kReadTransports = {
    "oci:", "oci-archive:", "docker-archive:"};
/// Words of skopeo for sources that only skopeo reads.
constexpr std::array<std::string_view, 3> kSkopeosTransports = {
    "docker://", "docker-daemon:", "containers-storage:"};

/// Splits PATH[:REFERENCE]. Both parts may contain ":", so that the longest path that exists is
/// taken.
std::optional<SourcePlace> find_path(const std::string& source) {
  if (exists(source)) return SourcePlace{HostPath(source), ""};
  for (std::size_t colon = source.rfind(':'); colon != std::string::npos && colon != 0;
       colon = source.rfind(':', colon - 1))
    if (exists(source.substr(0, colon)))
      return SourcePlace{HostPath(source.substr(0, colon)), source.substr(colon + 1)};
  return std::nullopt;
}

}  // namespace

Result<std::string> absolute_source(const std::string& source, std::string& path) {
  const auto* const transport = std::ranges::find_if(
      kReadTransports, [&](std::string_view word) { return source.starts_with(word); });
  const std::string prefix(transport == kReadTransports.end() ? std::string_view() : *transport);
  const std::string rest = source.substr(prefix.size());
  const auto place = find_path(rest);
  if (!place && !rest.starts_with('/') && !rest.starts_with("./") && !rest.starts_with("../"))
    return source;
  TRY_ASSIGN(const HostPath absolute, linux::absolute_path(place ? place->path.string() : rest));
  path = absolute.string();
  if (!place || place->reference.empty()) return prefix + path;
  return fmt::format("{}{}:{}", prefix, path, place->reference);
}

namespace {

/// The place that --image gives: a path, else a reference in the layout of --images.
Result<SourcePlace> parse_source(const std::string& source, const Given& given) {
  const auto has_prefix = [&](std::string_view transport) { return source.starts_with(transport); };
  const auto* const transport = std::ranges::find_if(kReadTransports, has_prefix);
  const bool is_path = transport != kReadTransports.end();
  const std::string rest = is_path ? source.substr(transport->size()) : source;
  if (auto place = find_path(rest)) return *std::move(place);
  // The search of the layout then finds skopeo's files, and says what to do.
  if (source.starts_with("dir:") && exists(source.substr(4)))
    return SourcePlace{HostPath(source.substr(4)), ""};
  if (std::ranges::any_of(kSkopeosTransports, has_prefix))
    return refuse(
        "is not on this machine as a layout or an archive: `skopeo copy {} oci:DIR:NAME` makes a "
        "layout, of which SOURCE is DIR:NAME",
        source);
  const bool may_be_reference =
      !is_path && !rest.starts_with('/') && !rest.starts_with("./") && !rest.starts_with("../");
  if (may_be_reference && !given.image_directory.empty())
    return SourcePlace{HostPath(given.image_directory), rest};
  if (!may_be_reference) return fail(ENOENT, "{}", rest);
  return refuse(
      "there is no such path, and --images DIR is missing, whose layout may have an image of that "
      "name");
}

/// The option that binds the image of a container.
struct Bound {
  std::string name, source;
};

std::optional<Bound> find_bound(const Container& container, const Given& given) {
  for (const std::string* name : {&container.image, &container.image_name, &container.name})
    if (const auto found = given.images.find(*name); !name->empty() && found != given.images.end())
      return Bound{found->first, found->second};
  return std::nullopt;
}

/// An App Container names an image by the digest alone: "sha512-HEX". A reference has a name too.
std::string reference_of(const Container& container) {
  const bool is_digest =
      container.image.starts_with("sha256-") || container.image.starts_with("sha512-");
  if (!is_digest) return container.image;
  return fmt::format("image@{}:{}", container.image.substr(0, 6), container.image.substr(7));
}

Result<StoredImage> add_from(const SourcePlace& place, const Store& store,
                             const AddOptions& options) {
  TRY_ASSIGN(const ImageSource source, ImageSource::open(place.path));
  return store.add(source, {.reference = place.reference, .platform = Platform::host()}, options);
}

Result<StoredImage> find_bound_image(const Bound& bound, const Given& given, const Store& store,
                                     const AddOptions& options) {
  auto found = [&]() -> Result<StoredImage> {
    TRY_ASSIGN(const SourcePlace place, parse_source(bound.source, given));
    return add_from(place, store, options);
  }();
  return within(std::move(found), "--image {}={}", bound.name, bound.source);
}

Result<StoredImage> find(const Workload& workload, const Container& container, const Given& given,
                         const Store& store, const AddOptions& options) {
  if (const auto bound = find_bound(container, given))
    return find_bound_image(*bound, given, store, options);
  const std::string_view kind = workload.pod.kind == Kind::kAppc ? "app" : "container";
  if (given.image_directory.empty())
    return refuse(
        "nothing says where the image {} of the {} \"{}\" is: --image {}=SOURCE names an OCI "
        "layout or an archive, --images DIR a layout that has it",
        bundle::in_quotes(container.image), kind, container.name, container.name);
  auto found = add_from({HostPath(given.image_directory), reference_of(container)}, store, options);
  if (found || found.error().number() != 0)
    return within(std::move(found), "--images {}", given.image_directory);
  return refuse("--images {}: {}; --image {}=REFERENCE takes another image of it for the {} \"{}\"",
                given.image_directory, found.error().message(), container.name, kind,
                container.name);
}

}  // namespace

AddOptions options_for_this_namespace() {
  AddOptions options;
  if (linux::is_in_initial_user_namespace()) return options;
  options.mark = OpaqueMark::kUser;
  options.devices = DeviceNodes::kLeaveOut;
  return options;
}

Result<StoredImage> find_image(const Workload& workload, const Container& container,
                               const Given& given, const Store& store, const AddOptions& options) {
  auto found = [&]() -> Result<StoredImage> {
    TRY_ASSIGN(StoredImage image, find(workload, container, given, store, options));
    TRY(remember(store, image, container.image));
    return image;
  }();
  if (!found)
    return within(std::move(found), "{}: container \"{}\"", workload.at(container.image_place),
                  container.name);
  TRY(check_image_labels(workload, container, found->config));
  return found;
}

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

/// The value of a label in the document.
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
