#include "linux/mounts/binds.hpp"

#include <sched.h>

#include <cerrno>

#include "linux/base/outer_filter.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/place.hpp"
#include "linux/mounts/rootfs.hpp"

namespace ocirun::linux {
namespace {

constexpr const char* kName = "tree";

/// Makes a new tmpfs the working directory. The container's user namespace may search the tmpfs.
/// When the kernel copies a mount namespace, it moves the root and the working directory of the
/// process into the copy. All other open files stay in the old namespace.
Result<UniqueFd> enter_workplace() {
  Filesystem filesystem;
  filesystem.type = filesystem.source = "tmpfs";
  filesystem.data = {"mode=0755"};
  auto tmpfs = DetachedMount::of_filesystem(filesystem, 0);
  if (!tmpfs && tmpfs.error().number() == ENOSYS) {  // no fsopen
    OCIRUN_TRY(sys::mount("tmpfs", "/", "tmpfs", 0, filesystem.data.front().c_str()));
    OCIRUN_TRY_ASSIGN(UniqueFd covering, sys::open("/..", O_PATH | O_DIRECTORY));
    OCIRUN_TRY(sys::fchdir(covering));
    return covering;
  }
  if (!tmpfs) return std::unexpected(tmpfs.error());
  OCIRUN_TRY_ASSIGN(const UniqueFd top, sys::open("/", O_PATH | O_DIRECTORY));
  OCIRUN_TRY(tmpfs->attach(top));
  OCIRUN_TRY(sys::fchdir(tmpfs->fd()));
  return std::move(*tmpfs).release();
}

Result<UniqueFd> make_bind_target(Fd workplace, Fd tree) {
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(tree));
  if (!S_ISDIR(info.st_mode)) return sys::openat(workplace, kName, O_CREAT | O_EXCL, 0400);
  OCIRUN_TRY(sys::mkdirat(workplace, kName, 0700));
  return sys::openat(workplace, kName, O_PATH | O_DIRECTORY);
}

/// Attaches the tree and sets its attributes. Before Linux 5.12 the attributes of a detached mount
/// cannot be changed.
Result<void> attach_complete(const Procfs& procfs, const Mount& mount, UniqueFd opened) {
  const DetachedMount tree(std::move(opened));
  OCIRUN_TRY_ASSIGN(const UniqueFd workplace, enter_workplace());
  OCIRUN_TRY_ASSIGN(const UniqueFd target, make_bind_target(workplace, tree.fd()));
  OCIRUN_TRY(tree.attach(target));
  return set_attributes_of(procfs, tree.fd(), mount);
}

Result<UniqueFd> clone_attached() {
  return sys::open_tree(Fd{AT_FDCWD}, kName, OPEN_TREE_CLONE | unsigned{AT_RECURSIVE});
}

Result<UniqueFd> clone_locked(Fd user_namespace) {
  if (::setns(user_namespace.value, CLONE_NEWUSER) != 0)
    return failed_namespace_call("setns", "enter the container's user namespace");
  if (::unshare(CLONE_NEWNS) != 0)  // this copy locks the mounts
    return failed_namespace_call("unshare",
                                 "copy the mount namespace for the container's user namespace");
  return clone_attached();
}

}  // namespace

Result<UniqueFd> clone_locked_bind(const Procfs& procfs, const LockedBind& wanted) {
  if (::unshare(CLONE_NEWNS) != 0)
    return failed_namespace_call(
        "unshare", fmt::format("make a mount namespace to lock {} in", wanted.mount.source));
  // A tree that receives the host's mount events (rslave, rshared) has to remain a slave.
  OCIRUN_TRY(isolate_mount_tree(wants_early_open(wanted.mount) ? Propagation::kSlave
                                                               : wanted.rootfs_propagation));
  OCIRUN_TRY_ASSIGN(UniqueFd tree, open_bind(procfs, wanted.mount));
  if (wanted.id_map.value >= 0) OCIRUN_TRY(id_map_bind(tree, wanted.mount, wanted.id_map));
  OCIRUN_TRY(attach_complete(procfs, wanted.mount, std::move(tree)));
  return clone_locked(wanted.user_namespace);
}

Result<UniqueFd> clone_unlocked_bind(const Procfs& procfs, const Mount& mount, Fd id_map,
                                     Propagation rootfs_propagation) {
  OCIRUN_TRY_ASSIGN(UniqueFd tree, mount.is_id_mapped() ? open_id_mapped_bind(procfs, mount, id_map)
                                                        : open_bind(procfs, mount));
  if (!wants_early_open(mount))
    OCIRUN_TRY(
        change_propagation(procfs, tree, isolation_of(rootfs_propagation), Recursion::kTree));
  OCIRUN_TRY(set_attributes_of(procfs, tree, mount));
  return tree;
}

Result<UniqueFd> make_locked_filesystem(const Procfs& procfs, const Mount& mount,
                                        Fd user_namespace) {
  if (::unshare(CLONE_NEWNS) != 0)
    return fail(errno, "make a mount namespace to lock {} in", mount.type);
  OCIRUN_TRY(isolate_mount_tree(Propagation::kPrivate));
  const Filesystem filesystem{.type = mount.type,
                              .source = mount.source,
                              .superblock_flags = mount.superblock_flags,
                              .superblock_clear = mount.superblock_clear,
                              .selinux_context = {},
                              .data = mount.data};
  OCIRUN_TRY_ASSIGN(DetachedMount made, DetachedMount::of_filesystem(filesystem, 0));
  OCIRUN_TRY(attach_complete(procfs, mount, std::move(made).release()));
  return clone_locked(user_namespace);
}

Result<UniqueFd> clone_bind_inside(const Procfs& procfs, const Mount& mount, Fd id_map,
                                   Fd mount_namespace, Fd source) {
  if (::setns(mount_namespace.value, CLONE_NEWNS) != 0)
    return fail(errno, "enter the container's mount namespace, which has {}", mount.source);
  OCIRUN_TRY_ASSIGN(UniqueFd tree, clone_bind(mount, source));
  if (id_map.value >= 0) OCIRUN_TRY(id_map_bind(tree, mount, id_map));
  if (::unshare(CLONE_NEWNS) != 0)
    return fail(errno, "make a mount namespace to prepare {} in", mount.source);
  OCIRUN_TRY(isolate_mount_tree(Propagation::kPrivate));
  OCIRUN_TRY(attach_complete(procfs, mount, std::move(tree)));
  return clone_attached();
}

Result<void> set_attributes_of(const Procfs& procfs, Fd tree, const Mount& mount) {
  if (!mount.recursive_attributes.empty())
    OCIRUN_TRY(change_attributes(procfs, tree, mount.recursive_attributes, Recursion::kTree));
  if (!mount.attributes.empty())
    OCIRUN_TRY(change_attributes(procfs, tree, mount.attributes, Recursion::kTop));
  return {};
}

Result<UniqueFd> open_bind_source(const Procfs& procfs, const Mount& mount) {
  auto source = sys::open(mount.source.c_str(), O_PATH);
  if (!source) return fail(source.error().number(), "open the source {}", mount.source);
  if (mount.source_root.empty()) return source;
  OCIRUN_TRY_ASSIGN(const UniqueFd root,
                    sys::open(mount.source_root.c_str(), O_PATH | O_DIRECTORY));
  OCIRUN_TRY_ASSIGN(const bool inside, lies_below(procfs, *source, root));
  if (inside) return source;
  return fail(ENOENT, "the source {}: a symlink on this path leads out of the root filesystem {}",
              mount.source, mount.source_root);
}

Result<bool> lies_below(const Procfs& procfs, Fd descriptor, Fd top) {
  OCIRUN_TRY_ASSIGN(const std::string path, procfs.path_of(descriptor));
  OCIRUN_TRY_ASSIGN(const std::string above, procfs.path_of(top));
  return path == above || path.starts_with(above + "/");
}

}  // namespace ocirun::linux
