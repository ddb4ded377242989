#include "pods/prepare/prepare.hpp"

#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <string_view>
#include <variant>

#include "bundle/config/annotations.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/mount_point.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "pods/prepare/find_image.hpp"
#include "pods/prepare/image_labels.hpp"
#include "pods/prepare/kept_volumes.hpp"
#include "pods/prepare/mounted_places.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

/// The paths in a container at which the plan mounts something.
using TakenPlaces = MountedPlaces<std::monostate>;

TakenPlaces taken_places(const BundlePlan& plan) {
  TakenPlaces places;
  const auto add = [&](const auto& mounts) {
    for (const auto& mount : mounts) places.add(linux::clean_path(mount.destination), {});
  };
  add(plan.bound);
  add(plan.in_memory);
  add(plan.devices.mounts);
  return places;
}

/// Makes a directory for a volume that the image declares at `path`, and copies the image's content
/// of `path` into the directory (conversion.md, Config.Volumes).
Result<BoundPath> make_image_volume(const linux::SafeDir& root, const std::string& path,
                                    std::size_t index, Fd directory, const std::string& bundle) {
  const std::string name = fmt::format("volume{}", index);
  OCIRUN_TRY(sys::mkdirat(directory, name.c_str(), 0755));
  OCIRUN_TRY_ASSIGN(const UniqueFd made,
                    sys::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  OCIRUN_TRY(copy_from_image(root, path, made));
  return BoundPath{.source = fmt::format("{}/{}", bundle, name),
                   .destination = path,
                   .read_only = false,
                   .recursive = false};
}

/// Fills each volume of `--volume NAME` that no container has mounted yet. The content is the
/// image's content at the path of the mount. Gives each volume to the group that the document
/// names.
Result<void> fill_kept_volumes(const Container& container, const Volumes& volumes,
                               const linux::SafeDir& root) {
  const auto fill = [&](const std::map<std::string, ReadyVolume>& among, const std::string& name,
                        const std::string& path) -> Result<void> {
    const auto volume = among.find(name);
    if (volume == among.end() || volume->second.kept.empty()) return {};
    const HostPath kept(volume->second.kept);
    OCIRUN_TRY(within(fill_kept_volume(kept, root, path), "fill the volume {}", kept.string()));
    if (volume->second.group)
      OCIRUN_TRY(within(give_to_group(kept, *volume->second.group), "fsGroup of the volume {}",
                        kept.string()));
    return {};
  };
  for (const Mount& mount : container.mounts)
    OCIRUN_TRY(fill(volumes.by_name, mount.volume, mount.sub_path.empty() ? mount.path : ""));
  for (const MountPoint& point : container.mount_points)
    OCIRUN_TRY(fill(volumes.for_mount_points, point.name, point.path));
  return {};
}

/// A mount of a device must not take the place of a volume or a file of the document.
Result<void> check_device_mounts(const BundlePlan& plan) {
  std::set<std::string_view> taken;
  for (const BoundPath& bound : plan.bound) taken.insert(bound.destination);
  const auto is_taken = [&](const std::string& path) { return taken.contains(path); };
  for (const DeviceMount& mount : plan.devices.mounts)
    if (is_taken(mount.destination))
      return refuse("the mount of a device at {} would hide what is mounted there",
                    mount.destination);
  for (const ReadyNode& node : plan.devices.nodes)
    if (is_taken(node.path))
      return refuse("the device node {} would hide what is mounted there", node.path);
  return {};
}

void add_contract_directories(const Pod& pod, const TakenPlaces& places, BundlePlan& plan) {
  if (pod.kind != Kind::kKnative) return;
  for (const auto& [path, mode] : kContractDirectories)
    if (!places.covers(path))
      plan.in_memory.push_back({.destination = path, .mode = mode, .most_bytes = {}});
}

/// `place`: the directory of the bundle.
Result<BundlePlan> plan_bundle(const PodParts& parts, const Container& container, const Root& root,
                               const Site& place, std::vector<SubPath>& sub_paths) {
  OCIRUN_TRY_ASSIGN(const linux::SafeDir tree, linux::SafeDir::open_root(HostPath(root.path())));
  BundlePlan plan;
  OCIRUN_TRY_ASSIGN(plan.launch, merge_launch(parts.completed.pod(), container,
                                              parts.images.at(&container).config,
                                              parts.completed.given().bindings, tree));
  plan.root = "rootfs";
  plan.read_only_root = container.read_only_root;
  OCIRUN_TRY_ASSIGN(ContainerMounts mounts, mounts_of(container, parts.completed.workload(),
                                                      parts.volumes, place.fd, place.path));
  plan.bound = std::move(mounts.bound);
  plan.bound_devices = std::move(mounts.devices);
  sub_paths = std::move(mounts.parts);
  OCIRUN_TRY(fill_kept_volumes(container, parts.volumes, tree));
  OCIRUN_TRY_ASSIGN(const std::vector<BoundPath> files,
                    write_config_files(container, parts.completed.given(), place.fd, place.path));
  plan.bound.insert(plan.bound.end(), files.begin(), files.end());
  OCIRUN_TRY(check_mount_places(parts.completed.workload(), container, plan, tree));
  if (const auto own = parts.devices.of.find(&container); own != parts.devices.of.end())
    plan.devices = own->second.edits;
  OCIRUN_TRY(check_device_mounts(plan));
  TakenPlaces places = taken_places(plan);
  for (const BoundPath& file : parts.network_files)
    if (!places.covers(file.destination)) {
      plan.bound.push_back(file);
      places.add(file.destination, {});
    }
  for (std::size_t i = 0; i < plan.launch.volumes.size(); ++i) {
    const std::string& path = plan.launch.volumes[i];
    if (places.covers(linux::clean_path(path))) continue;
    OCIRUN_TRY_ASSIGN(BoundPath volume,
                      within(make_image_volume(tree, path, i, place.fd, place.path),
                             "the image's volume {}", path));
    plan.bound.push_back(std::move(volume));
    places.add(linux::clean_path(path), {});
  }
  add_contract_directories(parts.completed.pod(), places, plan);
  const Sandbox& sandbox = parts.sandbox;
  plan.shared = sandbox.shared;
  plan.hostname = sandbox.hostname;
  if (sandbox.cgroups_path) plan.cgroups_path = sandbox.cgroups_path(container.name);
  plan.resources = container.resources;
  plan.requests = parts.completed.given().requests;
  plan.security = container.security;
  OCIRUN_TRY_ASSIGN(plan.seccomp, seccomp_of(container, parts.completed.given()));
  plan.powers = sandbox.powers;
  plan.ids = sandbox.ids;
  return plan;
}

std::vector<std::string> warnings_for(const Workload& workload, const Container& container,
                                      const StoredImage& image, const Launch& launch,
                                      const Root& root) {
  std::vector<std::string> warnings = unchecked_image_labels(workload, container, image.config);
  if (image.devices_left_out != 0)
    warnings.push_back(fmt::format(
        "{}: {} device nodes of the image are left out, because only root may make such",
        container.name, image.devices_left_out));
  if (!root.reason_for_copy().empty())
    warnings.push_back(
        fmt::format("{}: each start copies the whole image, because no overlay can be mounted: {}",
                    container.name, root.reason_for_copy()));
  if (!launch.stop_signal.empty() && !bundle::parse_stop_signal(launch.stop_signal))
    warnings.push_back(fmt::format(
        "{}: the image's StopSignal {} is not the name of a signal: SIGTERM is sent instead",
        container.name, bundle::in_quotes(launch.stop_signal)));
  if (!launch.left_out_labels.empty())
    warnings.push_back(
        fmt::format("{}: labels of the image that have no effect, because only the operator may "
                    "give a container such annotations: {}",
                    container.name, bundle::in_list(launch.left_out_labels)));
  return warnings;
}

/// Whether the caller's user namespace has the group. Returns false also if /proc cannot be read.
bool has_group(std::uint32_t group) {
  const auto map = linux::own_id_map(linux::IdKind::kGroup);
  return map && std::ranges::any_of(*map, [&](const linux::IdMapping& line) {
           return group >= line.container_id && group - line.container_id < line.size;
         });
}

/// user_namespaces(7): a process that maps only its own id has to write "deny" first.
SetGroups rule_of_set_groups() {
  const auto procfs = linux::Procfs::open(linux::Procfs::Subset::kProcesses);
  const auto rule = procfs ? procfs->read("self/setgroups") : std::unexpected(procfs.error());
  return rule && rule->starts_with("deny") ? SetGroups::kDenied : SetGroups::kAllowed;
}

}  // namespace

Powers powers_here(bool has_cgroups, bool own_network) {
  if (linux::is_in_initial_user_namespace()) return {};
  constexpr std::uint32_t kTtyGroup = 5;
  return {.cgroup = has_cgroups,
          .device_rules = false,
          .device_nodes = false,
          .tty_group = has_group(kTtyGroup),
          .set_groups = rule_of_set_groups(),
          .sysfs = own_network};
}

namespace {

/// Makes the bundle of a container that has an image.
Result<ReadyContainer> prepare_container(const PodParts& parts, const Container& container,
                                         const Site& site) {
  const std::string bundle = fmt::format("{}/{}", site.path, container.name);
  const StoredImage& image = parts.images.at(&container);
  auto prepared = [&]() -> Result<ReadyContainer> {
    OCIRUN_TRY(sys::mkdirat(site.fd, container.name.c_str(), 0711));
    OCIRUN_TRY_ASSIGN(const UniqueFd made, sys::openat(site.fd, container.name.c_str(),
                                                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    OCIRUN_TRY_ASSIGN(UniqueFd kept, sys::openat(made, ".", O_RDONLY | O_DIRECTORY));
    OCIRUN_TRY_ASSIGN(Root root, Root::open(parts.store, image.layers, std::move(kept), bundle));
    OCIRUN_TRY(root.make(parts.sandbox.root));
    std::vector<SubPath> sub_paths;
    const Site place{.fd = made, .path = bundle};
    auto planned = plan_bundle(parts, container, root, place, sub_paths);
    if (!planned) {
      if (parts.sandbox.root == RootKind::kOverlay) ignore(root.unmount());
      return std::unexpected(planned.error());
    }
    OCIRUN_TRY_ASSIGN(const std::string text, config_text(*planned));
    OCIRUN_TRY(linux::replace_file(made, "config.json", text, 0600));
    const int signal = bundle::parse_stop_signal(planned->launch.stop_signal).value_or(SIGTERM);
    std::vector<std::string> warnings =
        warnings_for(parts.completed.workload(), container, image, planned->launch, root);
    return ReadyContainer{.container = &container,
                          .bundle = bundle,
                          .root = std::move(root),
                          .parts = std::move(sub_paths),
                          .launch = std::move(planned->launch),
                          .stop_signal = signal,
                          .warnings = std::move(warnings)};
  }();
  return within(std::move(prepared), "{}: container \"{}\"",
                parts.completed.workload().at(container.place), container.name);
}

}  // namespace

Result<std::vector<ReadyContainer>> make_bundles(const PodParts& parts, const Site& site) {
  std::vector<ReadyContainer> made;
  for (const Container* container : all_containers(parts.completed.pod())) {
    OCIRUN_TRY_ASSIGN(ReadyContainer ready, container->bundle
                                                ? prepare_contract_bundle(parts, *container, site)
                                                : prepare_container(parts, *container, site));
    made.push_back(std::move(ready));
  }
  return made;
}

Result<std::vector<ReadyContainer>> make_bundles_below(const PodParts& parts, const Site& parent,
                                                       const char* name) {
  OCIRUN_TRY(sys::mkdirat(parent.fd, name, 0711));
  OCIRUN_TRY_ASSIGN(const UniqueFd made,
                    sys::openat(parent.fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  return make_bundles(parts, {.fd = made, .path = fmt::format("{}/{}", parent.path, name)});
}

}  // namespace ocirun::pods
