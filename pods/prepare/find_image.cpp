#include "pods/prepare/find_image.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include "bundle/json/writer.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "pods/images/catalogue.hpp"
#include "pods/images/stored_layout.hpp"
#include "pods/prepare/image_labels.hpp"

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
  OCIRUN_TRY_ASSIGN(const HostPath absolute,
                    linux::absolute_path(place ? place->path.string() : rest));
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
  const bool may_be_reference =
      !is_path && !rest.starts_with('/') && !rest.starts_with("./") && !rest.starts_with("../");
  if (may_be_reference && !given.image_directory.empty())
    return SourcePlace{HostPath(given.image_directory), rest};
  if (!may_be_reference) return fail(ENOENT, "{}", rest);
  return refuse(
      "there is no such path, and --images DIR is missing, whose layout may have an image of that "
      "name; docker://{} is the image in its registry",
      rest);
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
  OCIRUN_TRY_ASSIGN(const ImageSource source, ImageSource::open(place.path));
  return store.add(source, {.reference = place.reference, .platform = Platform::host()}, options);
}

/// What finding the image of one container takes.
struct Search {
  const Workload& workload;
  const Container& container;
  const Given& given;
  const Store& store;
  const AddOptions& options;

  std::string_view kind() const { return workload.pod.kind == Kind::kAppc ? "app" : "container"; }
};

PullRequest request_for(const Search& search) {
  const Pulling& pulling = search.given.pulling;
  PullRequest request{.pulling = pulling,
                      .policy = pulling.policy.value_or(
                          search.container.pull_policy.value_or(PullPolicy::kMissing)),
                      .auth_file = {}};
  if (const PullSecret* secret = pull_secret_of(search.workload.pod, search.container))
    if (const auto file = pulling.auth_files.find(secret->name); file != pulling.auth_files.end())
      request.auth_file = file->second;
  return request;
}

Result<StoredImage> pull_for(const Search& search, const Origin& origin) {
  return pull_image(search.store, origin, request_for(search), search.options);
}

Result<StoredImage> find_bound_image(const Search& search, const Bound& bound) {
  auto found = [&]() -> Result<StoredImage> {
    OCIRUN_TRY_ASSIGN(const auto origin, Origin::parse(bound.source));
    if (origin) return pull_for(search, *origin);
    OCIRUN_TRY_ASSIGN(const SourcePlace place, parse_source(bound.source, search.given));
    return add_from(place, search.store, search.options);
  }();
  return within(std::move(found), "--image {}={}", bound.name, bound.source);
}

Result<bool> directory_has(const Search& search) {
  OCIRUN_TRY_ASSIGN(const ImageSource source,
                    ImageSource::open(HostPath(search.given.image_directory)));
  return source.has(reference_of(search.container));
}

/// Takes the image from the layout of --images.
Result<StoredImage> find_in_directory(const Search& search) {
  const std::string& directory = search.given.image_directory;
  auto found =
      add_from({HostPath(directory), reference_of(search.container)}, search.store, search.options);
  if (found || found.error().number() != 0)
    return within(std::move(found), "--images {}", directory);
  return refuse("--images {}: {}; --image {}=REFERENCE takes another image of it for the {} \"{}\"",
                directory, found.error().message(), search.container.name, search.kind(),
                search.container.name);
}

/// The image in its registry; nothing if the document names the image by an App Container id or by
/// a text that is no reference.
std::optional<Origin> origin_of(const Search& search) {
  if (search.workload.pod.kind == Kind::kAppc) return std::nullopt;
  const auto reference = Reference::parse(search.container.image);
  return reference ? std::optional(Origin::of(*reference)) : std::nullopt;
}

Result<StoredImage> find(const Search& search) {
  const Container& container = search.container;
  if (const auto bound = find_bound(container, search.given))
    return find_bound_image(search, *bound);
  const auto origin = origin_of(search);
  if (!search.given.image_directory.empty()) {
    if (!origin || directory_has(search).value_or(true)) return find_in_directory(search);
    auto pulled = pull_for(search, *origin);
    if (pulled) return pulled;
    // Another process may have put the image into the directory meanwhile.
    auto found = find_in_directory(search);
    if (found) return found;
    return refuse("{}; {}", found.error().message(), pulled.error().message());
  }
  if (!origin)
    return refuse(
        "nothing says where the image {} of the {} \"{}\" is: --image {}=SOURCE names an OCI "
        "layout or an archive, --images DIR a layout that has it",
        bundle::in_quotes(container.image), search.kind(), container.name, container.name);
  auto pulled = pull_for(search, *origin);
  if (pulled) return pulled;
  return refuse("{}; --image {}=SOURCE takes the image from an OCI layout or an archive",
                pulled.error().message(), container.name);
}

}  // namespace

AddOptions options_for_this_namespace() {
  AddOptions options;
  if (linux::is_in_initial_user_namespace()) return options;
  options.mark = OpaqueMark::kUser;
  options.devices = DeviceNodes::kLeaveOut;
  return options;
}

Result<StoredImage> pull_image(const Store& store, const Origin& origin, const PullRequest& request,
                               const AddOptions& options) {
  OCIRUN_TRY(pull(store, origin, request));
  return add_from({store.path(), origin.name}, store, options);
}

Result<StoredImage> find_image(const Workload& workload, const Container& container,
                               const Given& given, const Store& store, const AddOptions& options) {
  auto found = [&]() -> Result<StoredImage> {
    OCIRUN_TRY_ASSIGN(StoredImage image, find({workload, container, given, store, options}));
    OCIRUN_TRY(remember(store, image, container.image));
    return image;
  }();
  if (!found)
    return within(std::move(found), "{}: container \"{}\"", workload.at(container.image_place),
                  container.name);
  OCIRUN_TRY(check_image_labels(workload, container, found->config));
  return found;
}

}  // namespace ocirun::pods
