#include <map>
#include <set>
#include <string_view>

#include "linux/files/directories.hpp"
#include "pods/prepare/volumes.hpp"

namespace ocirun::pods {
namespace {

constexpr const char* kParts = "parts";  // below the container's directory: SubPath::shown_at

/// The volumes to which only ocirun writes, because their files are keys of a secret or a config
/// map.
std::set<std::string_view> volumes_of_keys(const Pod& pod) {
  std::set<std::string_view> names;
  for (const Volume& volume : pod.volumes)
    if (volume.kind == Volume::Source::kSecret) names.insert(volume.name);
  return names;
}

}  // namespace

Result<ContainerMounts> mounts_of(const Container& container, const Workload& workload,
                                  const Volumes& volumes, Fd directory, const std::string& path) {
  ContainerMounts mounts;
  std::vector<BoundPath>& bound = mounts.bound;
  const auto let_open = [&](const ReadyVolume& volume, bool read_only) {
    if (!volume.device || !volume.lets_open) return;
    AllowedDevice& allowed = mounts.devices.emplace_back(*volume.device);
    if (read_only) allowed.access = "r";  // a read-only mount would not keep a program from writing
  };
  const std::set<std::string_view> of_keys = volumes_of_keys(workload.pod);
  std::map<std::string_view, bool> points;  // whether they are read-only
  for (const MountPoint& point : container.mount_points) points[point.path] |= point.read_only;
  std::set<std::string_view> mounted;
  for (const Mount& mount : container.mounts) {
    mounted.insert(mount.path);
    const auto volume = volumes.by_name.find(mount.volume);
    if (volume == volumes.by_name.end())
      return refuse("{}: there is no volume \"{}\"", workload.at(mount.place), mount.volume);
    // AC-8: a mount at the path of a mount point satisfies the point, which may want it read-only.
    const auto point = points.find(mount.path);
    const bool point_read_only = point != points.end() && point->second;
    std::string source = volume->second.source;
    if (!mount.sub_path.empty()) {
      if (!volume->second.is_directory)
        return refuse("{}: subPath {}: the volume \"{}\" is no directory: leave out subPath",
                      workload.at(mount.place), mount.sub_path, mount.volume);
      SubPath part{.volume = mount.volume,
                   .source = source,
                   .path = mount.sub_path,
                   .may_make = !volume->second.read_only,
                   .recursive = volume->second.recursive,
                   .shown_at = fmt::format("{}/{}/{}", path, kParts, mounts.parts.size())};
      if (volumes.reach == Reach::kByPath) {
        // config.json can have only the path. A program that writes to the volume could lead the
        // path out of the volume before the bundle runs (Kubernetes CVE-2017-1002101).
        if (!of_keys.contains(mount.volume))
          return refuse(
              "{}: subPath {} of the volume \"{}\" cannot be planned: whoever writes to the volume "
              "could lead the path elsewhere before the bundle runs; `ocirun pod run` does it",
              workload.at(mount.place), part.path, mount.volume);
        OCIRUN_TRY(within(check(part), workload.at(mount.place)));
        source = fmt::format("{}/{}", source, part.path);
      } else {
        OCIRUN_TRY(linux::open_or_make_directory(directory, kParts, 0700));
        source = part.shown_at;
        mounts.parts.push_back(std::move(part));
      }
    }
    const bool read_only = mount.read_only || volume->second.read_only || point_read_only;
    let_open(volume->second, read_only);
    bound.push_back({.source = std::move(source),
                     .destination = mount.path,
                     .read_only = read_only,
                     .recursive = volume->second.recursive});
  }
  for (const MountPoint& point : container.mount_points) {
    const auto volume = volumes.for_mount_points.find(point.name);
    if (mounted.contains(point.path) || volume == volumes.for_mount_points.end()) continue;
    bound.push_back({.source = volume->second.source,
                     .destination = point.path,
                     .read_only = point.read_only || volume->second.read_only,
                     .recursive = volume->second.recursive});
  }
  return mounts;
}

}  // namespace ocirun::pods
