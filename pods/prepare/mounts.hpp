#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/images/layer.hpp"

namespace ocirun::pods {

/// Gives the calling process a mount namespace of its own, in which the pod's root filesystems and
/// volumes are mounted: they are gone with the last process of the pod, whoever is killed. Mounts
/// of the host still appear in it. The caller must have a single thread. Errors: EPERM.
Result<void> enter_own_mount_namespace();

/// Mounts on the directory `target` an overlay of `layers` (the nearest first) with the writable
/// layer `upper`; `work` must be on the same filesystem, and neither may have been of an overlay
/// before. `mark`: that of the layers. What is written to the overlay is never forced onto the
/// disk. Errors: EINVAL, EPERM, ENODEV …: no overlay can be had here; E2BIG: too many layers.
Result<void> mount_overlay(std::span<const Fd> layers, OpaqueMark mark, Fd upper, Fd work,
                           Fd target);

/// Mounts a tmpfs on the directory `target`. `options`: "mode=0755,size=1024".
Result<void> mount_memory(Fd target, const std::string& options);

/// Shows the directory `source` at the directory `target`; `recursive`: with the mounts below
/// `source`. Whoever renames a part of the path of `source` later does not change what is shown.
Result<void> bind_directory(Fd source, bool recursive, Fd target);

/// Detaches the topmost mount at the directory `path`. A path at which nothing is mounted is no
/// error.
Result<void> unmount_at(const std::string& path);

/// A directory in which files for a pod are made.
struct Site {
  Fd fd;
  std::string path;  // absolute
};

/// The smallest filesystem that mount_new_disk() makes, in bytes.
inline constexpr std::uint64_t kLeastDisk = std::uint64_t{1} << 20;

/// Makes an empty filesystem of `bytes` in the new file NAME.disk of `site`, mounts it on the
/// directory NAME of `site`, and returns its root directory. Who fills the filesystem meets ENOSPC.
/// The file takes as much space as has been written to the filesystem. Nothing but the file is left
/// when the mount is gone. Errors: the program mkfs.ext4 is not installed; the machine has no loop
/// devices; fewer than kLeastDisk bytes.
Result<UniqueFd> mount_new_disk(const Site& site, const std::string& name, std::uint64_t bytes);

/// A part of a volume that a container mounts (subPath of Kubernetes).
struct SubPath {
  std::string volume;     // its name in the document
  std::string source;     // the path of the volume on the host
  std::string path;       // of the part, relative to the volume
  bool may_make = false;  // what is absent becomes a directory
  bool recursive = true;
  std::string shown_at;  // the path of the host where show() shows the part
};

/// Checks that the part is there and that its path leads through no symlink, and makes what is
/// absent a directory with the mode of the volume if that is allowed.
Result<void> check(const SubPath& part);

/// Shows the part at `shown_at`, whose directory exists, for one start of a container; what an
/// earlier call has shown there is gone. A program that writes to the volume meanwhile changes
/// nothing in what is shown. Symlinks are followed inside the volume and never out of it
/// (CVE-2017-1002101, CVE-2021-25741). What is absent is made as in check().
Result<void> show(const SubPath& part);

}  // namespace ocirun::pods
