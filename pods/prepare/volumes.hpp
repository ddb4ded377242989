#pragma once

#include <map>
#include <string>
#include <vector>

#include "pods/documents/workload.hpp"
#include "pods/prepare/given.hpp"

namespace ocirun::pods {

/// A directory in which files for a pod are made.
struct Site {
  Fd fd;
  std::string path;  // absolute
};

/// Whether volumes in memory are mounted in the caller's mount namespace, or are directories on
/// disk as the others are.
enum class MemoryVolumes : std::uint8_t { kMounted, kOnDisk };

/// A volume that containers can mount.
struct ReadyVolume {
  std::string source;  // a path of the host
  bool read_only = false;
  bool recursive = true;
};

/// The volumes of a pod by name, and the locks of those that the operator shares with nobody.
struct Volumes {
  std::map<std::string, ReadyVolume> by_name;
  /// Held as long as the pod runs: a volume with sharingPolicy Exclusive belongs to one pod at a
  /// time (OAM-35). A container that has mounted a directory does not hold them.
  std::vector<UniqueFd> locks;
};

/// Makes the empty directories of a pod in `site`/volumes, checks the others, and locks them.
/// `locks` is the path of the directory for locks; "": nothing is locked, because nothing will run.
/// Errors, with their places: a directory that does not exist or is none; a volume that another pod
/// has for itself alone; less free space than the volume requires (OAM-36).
Result<Volumes> prepare_volumes(const Workload& workload, const Given& given, const Site& site,
                                MemoryVolumes memory, const std::string& locks);

/// What a container mounts, in the document's order, and for an App Container also the volumes that
/// --volume gives to its mount points. Errors: a mount of a volume that does not exist.
Result<std::vector<BoundPath>> mounts_of(const Container& container, const Workload& workload,
                                         const Given& given, const Volumes& volumes);

}  // namespace ocirun::pods
