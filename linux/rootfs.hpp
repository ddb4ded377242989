#pragma once

#include <span>
#include <string>

#include "linux/error.hpp"
#include "linux/mount.hpp"
#include "linux/paths.hpp"
#include "linux/safe_dir.hpp"

namespace ocirun::linux {

/// Makes the caller's whole mount tree stop sending events to the host (`linux.rootfsPropagation`
/// slave, shared: slave; private, unbindable, unset: private), so that what follows stays in this
/// namespace. L-30.
Result<void> isolate_mount_tree(Propagation rootfs_propagation);

/// Mounts the rootfs onto itself (pivot_root wants a mount point), recursive, and returns it opened
/// inside that mount. `opened` is a tree from the parent for a root that the user namespace cannot
/// reach; empty otherwise.
Result<SafeDir> attach_rootfs(const HostPath& rootfs, UniqueFd opened);

/// pivot_root(".", ".") and detaching of the old root by fd; cwd is "/" afterwards.
Result<void> pivot_into(const SafeDir& root);
/// `--no-pivot`: MS_MOVE onto "/" and chroot; for initramfs roots. With `move` false: chroot alone
/// (no mount namespace).
Result<void> chroot_into(const SafeDir& root, bool move);

/// Applies the propagation that `linux.rootfsPropagation` names to "/", after the pivot (L-30).
Result<void> set_root_propagation(Propagation propagation);

/// Remounts "/" read-only, keeping its locked flags (T-3).
Result<void> make_root_read_only();

/// Covers each path: a file by the verified /dev/null, a directory by an empty read-only tmpfs;
/// missing paths are passed over (L-31). Called after the pivot, with `root` = "/".
Result<void> mask_paths(const SafeDir& root, std::span<const RootfsPath> paths,
                        Fd verified_null_mount);
/// Binds each path onto itself read-only, keeping locked flags; missing paths are passed over
/// (L-32).
Result<void> make_paths_read_only(const SafeDir& root, std::span<const RootfsPath> paths);

/// A detached mount of the verified host /dev/null, to be cloned for each masked file. Call it in
/// the container's mount namespace before the pivot.
Result<DetachedMount> open_null_mount();

}  // namespace ocirun::linux
