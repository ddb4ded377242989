#include "pods/prepare/plan_pod.hpp"

#include <fcntl.h>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/namespaces/user_namespace.hpp"
#include "pods/images/directories.hpp"
#include "pods/prepare/find_image.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

/// A bundle alone mounts nothing that containers share: a directory in memory is one on disk.
std::vector<std::string> warnings_of_volumes(const Workload& workload, const Given& given) {
  std::vector<std::string> warnings;
  for (const Volume& volume : workload.pod.volumes)
    if (volume.in_memory && !given.volumes.contains(volume.name))
      warnings.push_back(fmt::format(
          "{}: volume \"{}\": in a bundle it is a directory on disk{}, not in memory: "
          "`ocirun pod run` mounts it",
          workload.at(volume.place), volume.name, volume.most_bytes ? " without a limit" : ""));
  return warnings;
}

/// Returns the warnings.
Result<std::vector<std::string>> write_bundles(const Workload& workload, const Given& given,
                                               const HostPath& data, const std::string& name,
                                               const Site& site, BundleOwner owner) {
  linux::IdMap ids;
  if (owner == BundleOwner::kOrdinaryUser) {
    TRY_ASSIGN(ids.uids, linux::own_id_map(linux::IdKind::kUser));
    TRY_ASSIGN(ids.gids, linux::own_id_map(linux::IdKind::kGroup));
  }
  TRY_ASSIGN(const Store store, Store::open(HostPath(data.string() + "/images")));
  TRY_ASSIGN(const Volumes volumes, prepare_volumes(workload, given, site, Reach::kByPath, ""));
  TRY_ASSIGN(const std::vector<BoundPath> files,
             write_network_files(name, Network::kOwn, site.fd, site.path));
  const Surroundings surroundings{.shared = {},
                                  .hostname = name,
                                  .root = RootKind::kCopy,
                                  .cgroups_path = {},
                                  .powers = powers_here(true, true),
                                  .ids = std::move(ids)};
  std::vector<std::string> warnings = warnings_of_volumes(workload, given);
  for (const Container* container : all_containers(workload.pod)) {
    TRY_ASSIGN(const StoredImage image,
               find_image(workload, *container, given, store, options_for_this_namespace()));
    TRY_ASSIGN(const ReadyContainer ready,
               prepare_container(workload, *container, given, store, image, volumes, site,
                                 surroundings, files));
    warnings.insert(warnings.end(), ready.warnings.begin(), ready.warnings.end());
  }
  return warnings;
}

}  // namespace

Result<std::vector<std::string>> plan_pod(const Workload& workload, const Given& given,
                                          const HostPath& data, const std::string& name,
                                          const HostPath& out, BundleOwner owner) {
  TRY_ASSIGN(const UniqueFd parent, linux::open_parent(out));
  TRY_ASSIGN(const auto split, linux::SafeDir::split(RootfsPath(out.string())));
  const std::string& last = split.second;
  if (auto made = sys::mkdirat(parent, last.c_str(), 0700); !made) {
    if (made.error().number() != EEXIST) return std::unexpected(made.error());
    return refuse("{} exists: the bundles are written into a new directory", out.string());
  }
  auto written = [&]() -> Result<std::vector<std::string>> {
    TRY_ASSIGN(const UniqueFd directory,
               sys::openat(parent, last.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    return write_bundles(workload, given, data, name, {.fd = directory, .path = out.string()},
                         owner);
  }();
  if (!written) static_cast<void>(remove_tree(parent, last.c_str()));
  return written;
}

}  // namespace ocirun::pods
