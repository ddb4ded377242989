#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/mount.hpp"

namespace ocirun::linux {

/// A bind mount whose tree must be cloned by another process than the container's init.
struct BindForContainer {
  const Mount& mount;
  Fd id_map = {};          // a user namespace with the id map of the mount, or -1
  Fd user_namespace = {};  // the container's, or -1 where it has none of its own
  // Both are -1 unless the source lies below one of the container's own mounts. Then they are the
  // container's mount namespace, and the source as opened in it.
  Fd mount_namespace = {};
  Fd source = {};
  Propagation rootfs_propagation = Propagation::kUnchanged;
};

/// Clones the source with all attributes of the mount and locks the tree for the container's user
/// namespace: from inside, no protective flag can be cleared and nothing below the top can be
/// unmounted. The kernel locks mounts only when it copies a whole mount namespace for another user
/// namespace. The caller therefore ends up in a copied mount namespace and a foreign user
/// namespace, so it has to be a short-lived child. The propagation of the tree is the one that
/// isolate_mount_tree() would have given it. Errors: EPERM without CAP_SYS_ADMIN in the caller's
/// user namespace; those of open_bind and open_id_mapped_bind.
Result<UniqueFd> clone_locked_bind(const Procfs& procfs, const BindForContainer& wanted);

/// Clones a source that exists only in the container's mount namespace, with all attributes of the
/// mount. The tree is not locked, because it shows a mount of the container and not of the host.
/// The caller ends up in a copy of that mount namespace, so it has to be a short-lived child.
/// Errors: EPERM without CAP_SYS_ADMIN in the caller's user namespace; those of open_bind and
/// open_id_mapped_bind.
Result<UniqueFd> clone_bind_inside(const Procfs& procfs, const BindForContainer& wanted);

/// Sets the attributes of `mount` on a tree or an attached mount. The recursive attributes are set
/// first, so that attributes of the top mount alone override them there.
Result<void> set_attributes_of(const Procfs& procfs, Fd tree, const Mount& mount);

}  // namespace ocirun::linux
