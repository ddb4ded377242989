#pragma once

#include <cstdint>
#include <functional>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/detached_mount.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::linux {

// Each of these uses the mount API of Linux 5.2 and mount_setattr(2) of 5.12, and on a kernel (or
// below a seccomp filter) without them mount(2) on descriptors: mount_legacy.hpp. All return the
// handle of the attached mount.

/// What a bind mount, or any mount once it is made, is given.
struct Placement {
  Recursion recursion = Recursion::kTop;  // of the clone
  MountAttributes attributes;             // of the top mount
  MountAttributes recursive_attributes;   // of the whole tree, before `attributes`
  Propagation propagation = Propagation::kUnchanged;
  Recursion propagation_recursion = Recursion::kTop;
};

/// Binds what `source` (O_PATH will do) refers to.
Result<UniqueFd> place_bind(const MountPoint& point, Fd source, const Placement& placement);

/// Attaches a tree that exists already, made by another process or at another time.
Result<UniqueFd> place_tree(const MountPoint& point, DetachedMount tree,
                            const Placement& placement);

/// Puts content into a new filesystem before anybody sees it; called with its root.
using Fill = std::function<Result<void>(Fd covered, Fd filesystem)>;

/// Makes a filesystem and attaches it. With `fill` it is writable until that is done.
Result<UniqueFd> place_filesystem(const MountPoint& point, const Filesystem& filesystem,
                                  std::uint64_t attributes, const Fill& fill = nullptr);

/// Changes a mount that is attached.
Result<void> change_attributes(const Procfs& procfs, Fd mount, MountAttributes attributes,
                               Recursion recursion);
Result<void> change_propagation(const Procfs& procfs, Fd mount, Propagation propagation,
                                Recursion recursion);

}  // namespace ocirun::linux
