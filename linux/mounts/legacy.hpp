#pragma once

#include <cstdint>

#include "linux/base/error.hpp"
#include "linux/mounts/place.hpp"

/// Mounting by mount(2), for kernels without the mount API of Linux 5.2 or without mount_setattr(2)
/// of 5.12. mount(2) takes names only: the names here are links self/fd/N of the trusted procfs,
/// which is made the working directory for the call. Each new mount is verified afterwards: its
/// mount id has changed, its path has not.
namespace ocirun::linux::legacy {

/// The flags of mount(2) for the attributes of a new mount (MOUNT_ATTR_*).
std::uint64_t mount_flags(std::uint64_t attributes);

Result<UniqueFd> place_filesystem(const MountPoint& point, const Filesystem& filesystem,
                                  std::uint64_t attributes);
Result<UniqueFd> place_bind(const MountPoint& point, Fd source, Recursion recursion);

/// Remounts with the mount's present flags, changed by `attributes`. The present flags are given
/// again, because mount(2) clears every flag that it is not given. Error: EPERM; its message lists
/// the locked flags that `attributes` would clear.
Result<void> change_attributes(const Procfs& procfs, Fd mount, MountAttributes attributes);
Result<void> change_propagation(const Procfs& procfs, Fd mount, Propagation propagation,
                                Recursion recursion);

/// Unmounts a mount that was just made.
Result<void> unmount(const Procfs& procfs, Fd mount);

/// Changes the options of the superblock (`remount` without `bind`).
Result<void> reconfigure(const Procfs& procfs, Fd mount, const Filesystem& filesystem);

}  // namespace ocirun::linux::legacy
