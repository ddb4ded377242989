#pragma once

#include <map>
#include <string>
#include <vector>

#include "pods/documents/workload.hpp"
#include "pods/prepare/given.hpp"
#include "pods/prepare/mounts.hpp"

namespace ocirun::pods {

/// How containers reach volumes. kMounted: each volume is mounted below the pod's directory, in the
/// caller's own mount namespace, so that a container that can write to a directory above another
/// volume's source cannot move the latter away between two starts. kByPath: by their own paths,
/// for bundles that are run later; volumes in memory are directories on disk.
enum class Reach : std::uint8_t { kMounted, kByPath };

/// A volume that containers can mount.
struct ReadyVolume {
  std::string source;  // a path of the host
  bool read_only = false;
  bool recursive = true;
};

/// What a container mounts, and the parts of volumes among it, which have to be shown before each
/// start.
struct ContainerMounts {
  std::vector<BoundPath> bound;
  std::vector<SubPath> parts;
};

/// The volumes of a pod by name, and the locks of those that the operator shares with nobody.
struct Volumes {
  std::map<std::string, ReadyVolume> by_name;
  std::map<std::string, ReadyVolume> for_mount_points;  // what --volume gives to them, by name
  /// Held as long as the pod runs: a volume with sharingPolicy Exclusive belongs to one pod at a
  /// time (OAM-35). A container that has mounted a directory does not hold them.
  std::vector<UniqueFd> locks;
  Reach reach = Reach::kMounted;
};

/// Makes the empty directories of a pod in `site`/volumes, checks the others, and locks them. For
/// kMounted, `site` must have been opened in the caller's mount namespace.
/// `locks` is the path of the directory for locks; "": nothing is locked, because nothing will run.
/// Errors, with their places: a directory that does not exist or is none; a volume that another pod
/// has for itself alone; less free space than the volume requires (OAM-36); a limit that cannot be
/// kept.
Result<Volumes> prepare_volumes(const Workload& workload, const Given& given, const Site& site,
                                Reach reach, const std::string& locks);

/// What a container mounts, in the document's order, and for an App Container also the volumes that
/// --volume gives to its mount points. `directory` is the container's, with the path `path`: of the
/// parts of volumes, in which another container may rename files at any time, the container mounts
/// what show() has shown there; of volumes that are reached by their paths, the parts themselves.
/// Errors: a mount of a volume that does not exist; those of check().
Result<ContainerMounts> mounts_of(const Container& container, const Workload& workload,
                                  const Volumes& volumes, Fd directory, const std::string& path);

}  // namespace ocirun::pods
