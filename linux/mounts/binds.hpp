#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/mounts/options.hpp"

namespace ocirun::linux {

/// A bind mount of a container that has a user namespace of its own.
struct LockedBind {
  const Mount& mount;
  Fd id_map = {};          // a user namespace with the id map of the mount, or -1
  Fd user_namespace = {};  // the container's
  Propagation rootfs_propagation = Propagation::kUnchanged;
};

/// Clones the source with all attributes of the mount and locks the tree for the container's user
/// namespace: from inside, no protective flag can be cleared and nothing below the top can be
/// unmounted. The kernel locks mounts only when it copies a whole mount namespace for another user
/// namespace. The caller therefore ends up in a copied mount namespace and a foreign user
/// namespace, so it has to be a short-lived child. The propagation of the tree is the one that
/// isolate_mount_tree() would have given it. Errors: EPERM without CAP_SYS_ADMIN in the caller's
/// user namespace; those of open_bind and open_id_mapped_bind.
Result<UniqueFd> clone_locked_bind(const Procfs& procfs, const LockedBind& wanted);

/// Clones the source for a container without a user namespace, where the kernel need not lock
/// mounts, with all attributes of the mount. The clone is isolated from the host's mount events,
/// like the clones that init makes. `id_map`: a user namespace, for an id-mapped mount.
Result<UniqueFd> clone_unlocked_bind(const Procfs& procfs, const Mount& mount, Fd id_map,
                                     Propagation rootfs_propagation);

/// Clones `source`, which was opened in the container's mount namespace and exists only there, with
/// all attributes of the mount. `id_map` is as in LockedBind. The tree is not locked, because it
/// shows a mount of the container and not of the host. The caller ends up in a copy of that mount
/// namespace, so it has to be a short-lived child. Errors: EPERM without CAP_SYS_ADMIN in the
/// caller's user namespace; those of open_bind and open_id_mapped_bind.
Result<UniqueFd> clone_bind_inside(const Procfs& procfs, const Mount& mount, Fd id_map,
                                   Fd mount_namespace, Fd source);

/// Makes the filesystem of `mount`, which shows a namespace of the caller (namespace_shown_by()),
/// with all attributes, and locks it for `user_namespace` as clone_locked_bind() does. Only a
/// process with CAP_SYS_ADMIN over the shown namespace may make such a mount. A container that has
/// a user namespace lacks this capability if the shown namespace is one that the container has
/// joined and that belongs to another user namespace. The caller ends up as after
/// clone_locked_bind(). Errors: those of DetachedMount::of_filesystem().
Result<UniqueFd> make_locked_filesystem(const Procfs& procfs, const Mount& mount,
                                        Fd user_namespace);

/// Sets the attributes of `mount` on a tree or an attached mount. The recursive attributes are set
/// first, so that attributes of the top mount alone override them there.
Result<void> set_attributes_of(const Procfs& procfs, Fd tree, const Mount& mount);

/// Opens the source of a bind mount (O_PATH) in the caller's mount namespace. A source whose path
/// lies below the root filesystem (Mount::source_root) must also resolve to a file below it: a
/// symlink of an image or a volume must not choose a file of the host. Errors: those of open(2);
/// ENOENT for a source that a symlink leads out of the root filesystem.
Result<UniqueFd> open_bind_source(const Procfs& procfs, const Mount& mount);

/// Whether the file behind `descriptor` lies below the directory behind `top`, or is that
/// directory.
Result<bool> lies_below(const Procfs& procfs, Fd descriptor, Fd top);

}  // namespace ocirun::linux
