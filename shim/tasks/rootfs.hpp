#pragma once

#include <shim.pb-c.h>

#include <span>
#include <string>

#include "linux/base/error.hpp"

namespace ocirun::shim {

/// Mounts what containerd gives for the root filesystem of a container, one mount over the other,
/// at `target`. The options of an overlay may be longer than a page; its options uidmap= and
/// gidmap= id-map its lower layers (Linux 5.19). The caller is a process with a single thread that
/// may wait for a device. A mount with a target in the root filesystem,
/// or with the option "loop", is an error. Errors name the mount, and leave nothing mounted.
Result<void> mount_rootfs(std::span<Shim__Mount* const> mounts, const std::string& target);

/// Removes all mounts at `target`. Does nothing if there is none.
Result<void> unmount_rootfs(const std::string& target);

}  // namespace ocirun::shim
