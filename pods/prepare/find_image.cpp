#include "pods/prepare/find_image.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include "bundle/json/writer.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "pods/images/catalogue.hpp"
#include "pods/prepare/image_labels.hpp"

namespace ocirun::pods {
namespace {

struct SourcePlace {
  HostPath path;
  std::string reference;  // "": the only image of the source
};

bool exists(const std::string& path) { return linux::sys::open(path.c_str(), O_PATH).has_value(); }

/// skopeo's words for sources that are read.
constexpr std::array<std::string_view, 3> kReadTransports = {
    "oci:", "oci-archive:", "docker-archive:"};
/// Its words for sources that only skopeo reads.
constexpr std::array<std::string_view, 3> kSkopeosTransports = {
    "docker://", "docker-daemon:", "containers-storage:"};

/// A path may contain ":", and so may a reference: the longest path that exists counts.
std::optional<SourcePlace> find_path(const std::string& source) {
  if (exists(source)) return SourcePlace{HostPath(source), ""};
  for (std::size_t colon = source.rfind(':'); colon != std::string::npos && colon != 0;
       colon = source.rfind(':', colon - 1))
    if (exists(source.substr(0, colon)))
      return SourcePlace{HostPath(source.substr(0, colon)), source.substr(colon + 1)};
  return std::nullopt;
}

/// What --image gives for a name: a path, else a reference of the layout of --images.
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
  return within(std::move(found), fmt::format("--image {}={}", bound.name, bound.source));
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
    return within(std::move(found), fmt::format("--images {}", given.image_directory));
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
    return within(
        std::move(found),
        fmt::format("{}: container \"{}\"", workload.at(container.image_place), container.name));
  TRY(check_image_labels(workload, container, found->config));
  return found;
}

}  // namespace ocirun::pods
