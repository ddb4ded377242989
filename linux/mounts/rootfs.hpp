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

/// Stops propagation of mount events from the caller's mount namespace to the host: every mount
/// becomes a slave (`linux.rootfsPropagation` slave or shared) or private (private, unbindable,
/// unset), so that later mounts stay in this namespace. L-30.
Result<void> isolate_mount_tree(Propagation rootfs_propagation);
/// The propagation that isolate_mount_tree() sets.
Propagation isolation_of(Propagation rootfs_propagation);

/// Called with a mount before it is attached, or afterwards where the kernel has no detached
/// mounts.
using AnnounceMount = std::function<Result<void>(Fd mount)>;

/// Binds the rootfs onto itself (pivot_root needs a mount point), recursively, and returns it
/// opened inside that mount. `opened` is a tree from the parent, for a rootfs that the user
/// namespace cannot reach or that is id-mapped; otherwise it is empty. The new mounts get the
/// propagation that isolate_mount_tree() gave the other ones. Errors: ENOENT, ENOTDIR (T-2); that
/// of `announce`.
Result<SafeDir> attach_rootfs(const HostPath& rootfs, UniqueFd opened, const Procfs& procfs,
                              Propagation rootfs_propagation,
                              const AnnounceMount& announce = nullptr);

/// pivot_root(".", "."), then detaches the old root through its descriptor. The working directory
/// is "/" afterwards.
Result<void> pivot_into(const SafeDir& root);
/// `--no-pivot`: MS_MOVE onto "/" and chroot, for an initramfs as root. The host's procfs and sysfs
/// mounts are removed from the namespace first: otherwise a user namespace in the container could
/// mount new, unmasked ones.
Result<void> move_into(const SafeDir& root, const Procfs& procfs);
/// chroot alone, for a container without a mount namespace of its own.
Result<void> chroot_into(const SafeDir& root);

/// Sets the propagation of `linux.rootfsPropagation` on "/". Called after the pivot (L-30), and
/// after the masks and read-only paths, which need to clone mounts: an unbindable mount cannot be
/// cloned.
Result<void> set_root_propagation(Propagation propagation, Recursion recursion);

/// Remounts "/" read-only, keeping its locked flags (T-3).
Result<void> make_root_read_only(const Procfs& procfs);

/// Covers each path: a file by the verified /dev/null, a directory by an empty read-only tmpfs.
/// Missing paths are skipped (L-31). Called after the pivot, with `root` = "/".
/// `verified_null_mount` comes from open_null_mount(). `mount_label` is the SELinux label of the
/// tmpfs (L-34), "" for none.
Result<void> mask_paths(const SafeDir& root, const Procfs& procfs,
                        std::span<const RootfsPath> paths, Fd verified_null_mount,
                        std::string_view mount_label = {});
/// Binds each path onto itself read-only, keeping locked flags. Missing paths are skipped (L-32).
Result<void> make_paths_read_only(const SafeDir& root, const Procfs& procfs,
                                  std::span<const RootfsPath> paths);

/// A detached mount of the verified host /dev/null, for masking files. Call this before the host is
/// out of sight. Empty where the kernel has no detached mounts (before 5.2):
/// mask_paths() then binds the container's own /dev/null after verifying it.
Result<UniqueFd> open_null_mount();

}  // namespace ocirun::linux
