#pragma once

#include <cstdint>

#include "linux/base/error.hpp"
#include "linux/mounts/place.hpp"

/// mount(2) for kernels without the mount API of Linux 5.2 or mount_setattr(2) of 5.12. It takes
/// names only; the names here are fd links of the trusted procfs, made the working directory for
/// the call. What was mounted is verified afterwards: its mount id changed, its path did not.
namespace ocirun::linux::legacy {

Result<UniqueFd> place_filesystem(const MountPoint& point, const Filesystem& filesystem,
                                  std::uint64_t attributes);
Result<UniqueFd> place_bind(const MountPoint& point, Fd source, Recursion recursion);

/// Remounts with the flags that are there already, changed by `attributes`: mount(2) would drop
/// what it is not told, and may not drop what is locked. Errors: EPERM with the locked flags.
Result<void> change_attributes(const Procfs& procfs, Fd mount, MountAttributes attributes);
Result<void> change_propagation(const Procfs& procfs, Fd mount, Propagation propagation,
                                Recursion recursion);

/// Takes a mount away that was just made.
Result<void> unmount(const Procfs& procfs, Fd mount);

/// A remount of the superblock (`remount` without `bind`).
Result<void> reconfigure(const Procfs& procfs, Fd mount, const Filesystem& filesystem);

}  // namespace ocirun::linux::legacy
