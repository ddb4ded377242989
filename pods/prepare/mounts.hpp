#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/images/layer.hpp"

namespace ocirun::pods {

/// Gives the calling process a mount namespace of its own, for the root filesystems and volumes of
/// the pod. The kernel unmounts them when the last process of the pod ends, whoever is killed. New
/// mounts of the host still appear in this namespace. The caller must have a single thread. Errors:
/// EPERM.
Result<void> enter_own_mount_namespace();

/// Mounts on the directory `target` an overlay of `layers` (the nearest first) with the writable
/// layer `upper`; `work` must be on the same filesystem. Neither may have been a part of another
/// overlay. `mark`: how opaque directories of the layers are marked. The kernel never forces onto
/// the disk what is written to the overlay. Errors: EINVAL, EPERM, ENODEV …: overlayfs is not
/// usable here; E2BIG: too many layers.
Result<void> mount_overlay(std::span<const Fd> layers, OpaqueMark mark, Fd upper, Fd work,
                           Fd target);

/// Mounts a tmpfs on the directory `target`. `options`: "mode=0755,size=1024".
Result<void> mount_memory(Fd target, const std::string& options);

/// Mounts a directory on the directory `target`, or another file on the file `target`; `recursive`:
/// with the mounts below `source`. Renaming a part of the path of `source` later does not change
/// the mount.
Result<void> bind_mount(Fd source, bool recursive, Fd target);

/// Detaches the topmost mount at the directory `path`. Does nothing if nothing is mounted there.
Result<void> unmount_at(const std::string& path);

/// A directory in which files for a pod are made.
struct Site {
  Fd fd;
  std::string path;  // absolute
};

/// The smallest filesystem that mount_new_disk() makes, in bytes.
inline constexpr std::uint64_t kLeastDisk = std::uint64_t{1} << 20;

/// Makes an empty filesystem of `bytes` in the new file NAME.disk of `site`, mounts it on the
/// directory NAME of `site`, and returns its root directory. Writing more than fits fails with
/// ENOSPC. The file takes only as much space as was written to the filesystem. Unmounting leaves
/// only the file. Errors: the program mkfs.ext4 is not installed; the machine has no loop devices;
/// fewer than kLeastDisk bytes.
Result<UniqueFd> mount_new_disk(const Site& site, const std::string& name, std::uint64_t bytes);

/// A part of a volume that a container mounts (subPath of Kubernetes).
struct SubPath {
  std::string volume;     // its name in the document
  std::string source;     // the path of the volume on the host
  std::string path;       // of the part, relative to the volume
  bool may_make = false;  // make a directory if the part is absent
  bool recursive = true;
  std::string shown_at;  // the path on the host where show() mounts the part
};

/// Checks that the part exists and that its path leads through no symlink. If `may_make`, makes an
/// absent part a directory with the mode of the volume.
Result<void> check(const SubPath& part);

/// Mounts the part on `shown_at` for one start of a container. The parent directory of `shown_at`
/// must exist; the mount of an earlier call is removed. A program that writes to the volume
/// meanwhile cannot redirect the mount. Follows symlinks inside the volume, and never out of it
/// (CVE-2017-1002101, CVE-2021-25741). Makes an absent part as check() does.
Result<void> show(const SubPath& part);

}  // namespace ocirun::pods
