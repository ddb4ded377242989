#include "pods/prepare/find_image.hpp"

#include <fcntl.h>

#include "bundle/json/writer.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/namespaces/user_namespace.hpp"
#include "pods/images/catalogue.hpp"

namespace ocirun::pods {
namespace {

struct SourcePlace {
  HostPath path;
  std::string reference;  // "": the only image of the source
};

bool exists(const std::string& path) { return linux::sys::open(path.c_str(), O_PATH).has_value(); }

SourcePlace parse_source(std::string_view source) {
  for (const std::string_view transport : {"oci:", "oci-archive:", "docker-archive:"})
    if (source.starts_with(transport)) {
      source.remove_prefix(transport.size());
      break;
    }
  const std::string whole(source);
  if (exists(whole)) return {HostPath(whole), ""};
  // A path may contain ":", and so may a reference: the longest path that exists counts.
  for (std::size_t colon = whole.rfind(':'); colon != std::string::npos && colon != 0;
       colon = whole.rfind(':', colon - 1))
    if (exists(whole.substr(0, colon)))
      return {HostPath(whole.substr(0, colon)), whole.substr(colon + 1)};
  return {HostPath(whole), ""};
}

const std::string* bound_source(const Container& container, const Given& given) {
  for (const std::string* name : {&container.image, &container.image_name, &container.name})
    if (const auto found = given.images.find(*name); !name->empty() && found != given.images.end())
      return &found->second;
  return nullptr;
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

Result<StoredImage> find(const Container& container, const Given& given, const Store& store,
                         const AddOptions& options) {
  if (const std::string* source = bound_source(container, given))
    return within(add_from(parse_source(*source), store, options),
                  fmt::format("--image {}", *source));
  const std::string shown = bundle::in_quotes(container.image);
  if (given.image_directory.empty())
    return refuse(
        "the image {} is nowhere: --images DIR names an OCI layout that has it, --image {}=SOURCE "
        "one image",
        shown, container.image);
  return within(
      add_from({HostPath(given.image_directory), reference_of(container)}, store, options),
      fmt::format("--images {}", given.image_directory));
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
    TRY_ASSIGN(StoredImage image, find(container, given, store, options));
    TRY(remember(store, image, container.image));
    return image;
  }();
  return within(std::move(found), fmt::format("{}: container \"{}\"",
                                              workload.at(container.image_place), container.name));
}

}  // namespace ocirun::pods
