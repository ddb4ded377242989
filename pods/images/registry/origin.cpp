#include "pods/images/registry/origin.hpp"

#include <fmt/format.h>

namespace ocirun::pods {
namespace {

constexpr std::string_view kRegistry = "docker://";
constexpr std::string_view kOnThisMachine[] = {"docker-daemon:", "containers-storage:"};

}  // namespace

Origin Origin::of(const Reference& reference) {
  Reference plain = reference;
  if (plain.digest) plain.tag.clear();
  std::string name = plain.text();
  return {.address = fmt::format("{}{}", kRegistry, name), .name = name, .in_registry = plain};
}

Result<std::optional<Origin>> Origin::parse(std::string_view source) {
  if (source.starts_with(kRegistry)) {
    OCIRUN_TRY_ASSIGN(const Reference reference, Reference::parse(source.substr(kRegistry.size())));
    return of(reference);
  }
  for (const std::string_view transport : kOnThisMachine) {
    if (!source.starts_with(transport)) continue;
    // The name must be no reference: a document could name the image of a registry so.
    return Origin{.address = std::string(source),
                  .name = fmt::format("{}//{}", transport, source.substr(transport.size())),
                  .in_registry = {}};
  }
  return std::nullopt;
}

std::string Origin::address_of(const Digest& digest) const {
  return fmt::format("{}{}@{}", kRegistry, in_registry->name(), digest.text());
}

}  // namespace ocirun::pods
