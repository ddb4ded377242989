#pragma once

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

/// Mounts the ext4 filesystem of a block device on the directory `target`.
Result<void> mount_disk(Fd device, Fd target);

/// Shows the directory `source` at the directory `target`; `recursive`: with the mounts below
/// `source`. Whoever renames a part of the path of `source` later does not change what is shown.
Result<void> bind_directory(Fd source, bool recursive, Fd target);

/// Detaches the topmost mount at the directory `path`. A path at which nothing is mounted is no
/// error.
Result<void> unmount_at(const std::string& path);

}  // namespace ocirun::pods
