#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/mount.hpp"

namespace ocirun::linux {

/// A bind mount whose tree somebody else than the container's init has to clone.
struct BindForContainer {
  const Mount& mount;
  Fd id_map = {};          // the user namespace that maps its ids, or -1
  Fd user_namespace = {};  // the container's, or -1 where it has none of its own
  // Both -1 unless the source lies below one of the container's own mounts: the container's mount
  // namespace, and the source as found there.
  Fd mount_namespace = {};
  Fd source = {};
  Propagation rootfs_propagation = Propagation::kUnchanged;
};

/// Clones the source with all attributes of the mount and locks the tree for the container's user
/// namespace: from inside, no flag that protects can be cleared and nothing below the top can be
/// unmounted. The kernel locks a mount only when it copies a whole mount namespace for another user
/// namespace; so the caller ends up in a mount namespace and in the user namespace of nobody's, and
/// has to be a short-lived child. Its propagation is what isolate_mount_tree() would have left it.
/// Errors: EPERM without CAP_SYS_ADMIN in the caller's user namespace; those of open_bind and
/// open_id_mapped_bind.
Result<UniqueFd> clone_locked_bind(const Procfs& procfs, const BindForContainer& wanted);

/// Clones a source that only the container's mount namespace has, with all attributes of the mount.
/// The tree is not locked: what it shows is a mount of the container's, not of the host's. The
/// caller ends up in a copy of that mount namespace, and has to be a short-lived child. Errors:
/// EPERM without CAP_SYS_ADMIN in the caller's user namespace; those of open_bind and
/// open_id_mapped_bind.
Result<UniqueFd> clone_bind_inside(const Procfs& procfs, const BindForContainer& wanted);

/// The attributes of `mount`, on a tree or an attached mount: recursive ones first, so that what is
/// asked of the top mount alone wins there.
Result<void> set_attributes_of(const Procfs& procfs, Fd tree, const Mount& mount);

}  // namespace ocirun::linux
