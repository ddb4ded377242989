#pragma once

#include <cstdint>
#include <functional>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/detached_mount.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::linux {

// Attaching mounts, whatever the kernel provides. Each function uses the mount API of Linux 5.2 and
// mount_setattr(2) of 5.12. Where the kernel lacks them or a seccomp filter refuses them, it uses
// mount(2) on descriptors: legacy.hpp. Each place_… function returns a descriptor of the attached
// mount.

/// The attributes and the propagation of a new mount.
struct Placement {
  Recursion recursion = Recursion::kTop;  // of the clone
  MountAttributes attributes;             // of the top mount
  MountAttributes recursive_attributes;   // of the whole tree, before `attributes`
  Propagation propagation = Propagation::kUnchanged;
  Recursion propagation_recursion = Recursion::kTop;
};

/// Binds the file or directory behind `source` (which may be O_PATH).
Result<UniqueFd> place_bind(const MountPoint& point, Fd source, const Placement& placement);

/// Attaches an existing tree, which was made by another process or earlier.
Result<UniqueFd> place_tree(const MountPoint& point, DetachedMount tree,
                            const Placement& placement);

/// Fills a new filesystem before any process of the container can see it. `covered` is the
/// directory that it will be mounted on, `filesystem` the filesystem's root.
using Fill = std::function<Result<void>(Fd covered, Fd filesystem)>;

/// Makes a filesystem and attaches it. If `fill` is given, the filesystem is writable until `fill`
/// returns.
Result<UniqueFd> place_filesystem(const MountPoint& point, const Filesystem& filesystem,
                                  std::uint64_t attributes, const Fill& fill = nullptr);

/// Changes an attached mount.
Result<void> change_attributes(const Procfs& procfs, Fd mount, MountAttributes attributes,
                               Recursion recursion);
Result<void> change_propagation(const Procfs& procfs, Fd mount, Propagation propagation,
                                Recursion recursion);

}  // namespace ocirun::linux
