#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pods/documents/workload.hpp"
#include "pods/prepare/given.hpp"
#include "pods/prepare/host_paths.hpp"
#include "pods/prepare/mounts.hpp"

namespace ocirun::pods {

/// How containers reach volumes. kMounted: each volume is mounted below the directory of the pod,
/// in the caller's own mount namespace. A container that can write to a parent directory of a
/// volume then cannot exchange the volume between two starts. kByPath: containers bind the volumes
/// from their own paths, for bundles that are run later; volumes in memory are then directories on
/// disk.
enum class Reach : std::uint8_t { kMounted, kByPath };

/// The bits of a directory in which all members of its group can write, and what they make belongs
/// to the group.
inline constexpr mode_t kGroupDirectory = 02770;

/// A volume that containers can mount.
struct ReadyVolume {
  std::string source;  // a path on the host
  bool read_only = false;
  bool recursive = true;
  /// The path of a volume of `--volume NAME`, which gets the image's content from the first
  /// container that mounts it (fill_kept_volume()); "": another volume.
  std::string kept = {};
  std::optional<Gid> group = {};             // to which a kept volume is given
  std::optional<AllowedDevice> device = {};  // the volume is this device of the host
  bool lets_open = false;                    // containers may open `device`
  bool is_directory = true;
};

/// The mounts of a container, and the parts of volumes that show() has to show before each start.
struct ContainerMounts {
  std::vector<BoundPath> bound;
  std::vector<SubPath> parts;
  std::vector<AllowedDevice> devices;  // of the host, among those that are bound
};

/// The volumes of a pod.
struct Volumes {
  std::map<std::string, ReadyVolume> by_name;
  std::map<std::string, ReadyVolume>
      for_mount_points;  // the directories of --volume, by the names of mount points
  /// Locks of the exclusive volumes, held as long as the pod runs: such a volume belongs to one pod
  /// at a time (OAM-35).
  std::vector<UniqueFd> locks;
  MadeOnHost made;  // for hostPath, and removed again unless the pod comes about
  std::vector<std::string> warnings;
  Reach reach = Reach::kMounted;
};

/// Whether pods share a volume, or one has the volume for itself alone.
enum class Use : std::uint8_t { kShared, kAlone };
/// Locks the file `name` in the directory `locks` until the descriptor is closed. Errors: EAGAIN:
/// another process holds a lock that excludes this one.
Result<UniqueFd> lock_name(const std::string& locks, const std::string& name, Use use);
/// Locks the directory of a volume until the descriptor is closed: locks a file in the directory
/// `locks` that stands for `directory`, because a container that sees the directory could lock it.
/// Errors: EAGAIN: another process holds a lock that excludes this one.
Result<UniqueFd> lock_volume(const std::string& locks, Fd directory, Use use);

/// Checks that the filesystem of `file` has `least` bytes free. `what` begins the error, in front
/// of the number: "the volume requires 1 GiB".
Result<void> check_space(Fd file, std::uint64_t least,
                         std::string_view what = "the volume requires");

/// Makes the volumes of a pod that begin empty in `site`/volumes, and checks and locks the others.
/// For kMounted, `site` must have been opened in the caller's mount namespace. `locks` is the path
/// of the directory for locks; "" if nothing will run and so nothing has to be locked. Errors, with
/// their places: there is no such file of the host, or one of another kind; another pod has locked
/// the volume; there is less free space than the volume requires (OAM-36), or than the containers
/// request; a limit cannot be enforced.
Result<Volumes> prepare_volumes(const Workload& workload, const Given& given, const Site& site,
                                Reach reach, const std::string& locks);

/// The mounts of a container in the order of the document; an App Container also mounts the
/// directories of --volume at its mount points. `directory` is the directory of the container, with
/// the path `path`. With kMounted, show() shows the parts of volumes there, and the container
/// mounts them from there, because another container may rename files in the volume at any time.
/// With kByPath, the container mounts the parts themselves. Errors: a mount of a volume that does
/// not exist; those of check().
Result<ContainerMounts> mounts_of(const Container& container, const Workload& workload,
                                  const Volumes& volumes, Fd directory, const std::string& path);

}  // namespace ocirun::pods
