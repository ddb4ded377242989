#include "linux/mounts/root_namespace.hpp"

#include <fcntl.h>
#include <sched.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/base/timeline.hpp"

#ifndef OPEN_TREE_NAMESPACE
#define OPEN_TREE_NAMESPACE 0x2  // Linux 7.0
#endif

namespace ocirun::linux {

Result<UniqueFd> make_root_namespace(const HostPath& rootfs) {
  return sys::open_tree(Fd{AT_FDCWD}, rootfs.c_str(), OPEN_TREE_NAMESPACE | unsigned{AT_RECURSIVE});
}

Result<MountView> MountView::of_caller(const Procfs& procfs) {
  OCIRUN_TRY_ASSIGN(const UniqueFd namespaces, procfs.open_file("self/ns", O_PATH | O_DIRECTORY));
  OCIRUN_TRY_ASSIGN(UniqueFd mount_namespace, sys::openat(namespaces, "mnt", O_RDONLY));
  OCIRUN_TRY_ASSIGN(UniqueFd root, sys::open("/", O_PATH | O_DIRECTORY));
  OCIRUN_TRY_ASSIGN(UniqueFd directory, sys::open(".", O_PATH | O_DIRECTORY));
  return MountView(std::move(mount_namespace), std::move(root), std::move(directory));
}

Result<void> MountView::restore() const {
  OCIRUN_TRY(enter_mount_namespace(namespace_));
  OCIRUN_TRY(
      sys::fchdir(root_));  // the caller's root may be another one than that of the namespace
  OCIRUN_TRY(sys::chroot("."));
  ignore(sys::fchdir(directory_));  // the caller may not search it
  return {};
}

Result<void> enter_mount_namespace(Fd mount_namespace) {
  const timeline::Call call("setns", "mnt");
  if (::setns(mount_namespace.value, CLONE_NEWNS) == 0) return {};
  return fail(errno, "enter the mount namespace");
}

}  // namespace ocirun::linux
