#include <fmt/format.h>

#include "linux/namespaces/namespaces.hpp"
#include "pods/prepare/devices.hpp"
#include "pods/prepare/find_image.hpp"
#include "pods/prepare/plan/network_files.hpp"
#include "pods/prepare/prepare.hpp"

namespace ocirun::pods {
namespace {

/// Warns of volumes in memory: bundles cannot share a tmpfs, so that these are directories on disk.
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

}  // namespace

Result<std::vector<std::string>> plan_pod(const Completed& completed, const HostPath& data,
                                          const PlanTarget& target) {
  const Workload& workload = completed.workload();
  const Given& given = completed.given();
  const Site& site = target.site;
  linux::IdMap ids;
  if (target.owner == BundleOwner::kOrdinaryUser) {
    OCIRUN_TRY_ASSIGN(ids.uids, linux::own_id_map(linux::IdKind::kUser));
    OCIRUN_TRY_ASSIGN(ids.gids, linux::own_id_map(linux::IdKind::kGroup));
  }
  OCIRUN_TRY_ASSIGN(const Store store, Store::open_in(data));
  OCIRUN_TRY_ASSIGN(Volumes volumes, prepare_volumes(workload, given, site, Reach::kByPath, ""));
  OCIRUN_TRY_ASSIGN(const PodDevices devices, prepare_devices(workload, given, ""));
  OCIRUN_TRY_ASSIGN(const std::vector<BoundPath> files,
                    write_network_files(target.name, Network::kOwn, site.fd, site.path));
  const Sandbox sandbox{.shared = {},
                        .hostname = target.name,
                        .root = RootKind::kCopy,
                        .cgroups_path = {},
                        .powers = powers_here(true, true),
                        .ids = std::move(ids)};
  std::vector<std::string> warnings = warnings_of_volumes(workload, given);
  for (const auto& others : {volumes.warnings, devices.warnings})
    warnings.insert(warnings.end(), others.begin(), others.end());
  StoredImages images;
  for (const Container* container : all_containers(workload.pod)) {
    OCIRUN_TRY_ASSIGN(StoredImage image,
                      find_image(workload, *container, given, store, options_for_this_namespace()));
    images.emplace(container, std::move(image));
  }
  OCIRUN_TRY_ASSIGN(const std::vector<ReadyContainer> made, make_bundles({.completed = completed,
                                                                          .store = store,
                                                                          .images = images,
                                                                          .volumes = volumes,
                                                                          .devices = devices,
                                                                          .sandbox = sandbox,
                                                                          .network_files = files},
                                                                         site));
  for (const ReadyContainer& ready : made)
    warnings.insert(warnings.end(), ready.warnings.begin(), ready.warnings.end());
  volumes.made.keep();
  return warnings;
}

}  // namespace ocirun::pods
