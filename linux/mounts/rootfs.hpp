#pragma once

#include <functional>
#include <span>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/detached_mount.hpp"
#include "linux/mounts/options.hpp"

namespace ocirun::linux {

/// Makes the caller's whole mount tree stop sending events to the host (`linux.rootfsPropagation`
/// slave, shared: slave; private, unbindable, unset: private), so that what follows stays in this
/// namespace. L-30.
Result<void> isolate_mount_tree(Propagation rootfs_propagation);
/// The propagation that it gives.
Propagation isolation_of(Propagation rootfs_propagation);

/// Hears of a mount before it is attached; after it, where the kernel knows no detached mounts.
using AnnounceMount = std::function<Result<void>(Fd mount)>;

/// Mounts the rootfs onto itself (pivot_root wants a mount point), recursive, and returns it opened
/// inside that mount. `opened` is a tree from the parent for a root that the user namespace cannot
/// reach, or an id-mapped one; empty otherwise. Its mounts get the propagation that
/// isolate_mount_tree gave the others. Errors: ENOENT, ENOTDIR (T-2); that of `announce`.
Result<SafeDir> attach_rootfs(const HostPath& rootfs, UniqueFd opened, const Procfs& procfs,
                              Propagation rootfs_propagation,
                              const AnnounceMount& announce = nullptr);

/// pivot_root(".", ".") and detaching of the old root by fd; cwd is "/" afterwards.
Result<void> pivot_into(const SafeDir& root);
/// `--no-pivot`: MS_MOVE onto "/" and chroot; for initramfs roots. The host's procfs and sysfs
/// mounts leave the namespace first, or a user namespace of the container could mount new,
/// unmasked ones.
Result<void> move_into(const SafeDir& root, const Procfs& procfs);
/// chroot alone, for a container without a mount namespace of its own.
Result<void> chroot_into(const SafeDir& root);

/// Applies the propagation that `linux.rootfsPropagation` names to "/", after the pivot (L-30), and
/// after masks and read-only paths: what is unbindable cannot be cloned for them any more.
Result<void> set_root_propagation(Propagation propagation, Recursion recursion);

/// Remounts "/" read-only, keeping its locked flags (T-3).
Result<void> make_root_read_only(const Procfs& procfs);

/// Covers each path: a file by the verified /dev/null, a directory by an empty read-only tmpfs;
/// missing paths are passed over (L-31). Called after the pivot, with `root` = "/".
/// `verified_null_mount` is open_null_mount()'s; `mount_label` is the tmpfs's (L-34), "" for none.
Result<void> mask_paths(const SafeDir& root, const Procfs& procfs,
                        std::span<const RootfsPath> paths, Fd verified_null_mount,
                        std::string_view mount_label = {});
/// Binds each path onto itself read-only, keeping locked flags; missing paths are passed over
/// (L-32).
Result<void> make_paths_read_only(const SafeDir& root, const Procfs& procfs,
                                  std::span<const RootfsPath> paths);

/// A detached mount of the verified host /dev/null, which masks files. Call it in the container's
/// mount namespace before the pivot. Empty where the kernel has no detached mounts (before 5.2):
/// mask_paths then binds the container's own /dev/null, verified.
Result<UniqueFd> open_null_mount();

}  // namespace ocirun::linux
