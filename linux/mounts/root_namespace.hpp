#pragma once

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::linux {

/// Makes a mount namespace that consists of the tree at `rootfs` alone. Nothing of the host's mount
/// table is copied into the namespace, so nothing has to be detached from it. The mounts of the
/// namespace still receive the host's mount events: the caller has to enter the namespace, and then
/// to call isolate_mount_tree(). Errors: EINVAL before Linux 7.0, or for an unbindable mount; EPERM
/// without CAP_SYS_ADMIN; those of open(2) for `rootfs`.
Result<UniqueFd> make_root_namespace(const HostPath& rootfs);

/// The mount namespace, the root and the working directory of the caller.
class MountView {
 public:
  /// Errors: those of open(2).
  static Result<MountView> of_caller(const Procfs& procfs);

  /// Returns to what of_caller() found. Needs CAP_SYS_CHROOT, and CAP_SYS_ADMIN in the user
  /// namespace that owns that mount namespace.
  Result<void> restore() const;

 private:
  MountView(UniqueFd mount_namespace, UniqueFd root, UniqueFd directory)
      : namespace_(std::move(mount_namespace)),
        root_(std::move(root)),
        directory_(std::move(directory)) {}

  UniqueFd namespace_;
  UniqueFd root_;
  UniqueFd directory_;
};

/// Enters a mount namespace. Its root becomes the root and the working directory of the caller.
Result<void> enter_mount_namespace(Fd mount_namespace);

}  // namespace ocirun::linux
