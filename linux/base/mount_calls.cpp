// The calls that make, change and remove mounts.

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "linux/base/outcome.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/timeline.hpp"

namespace ocirun::linux::sys {

using timeline::Call;

Result<UniqueFd> open_tree(Fd directory, const char* path, unsigned flags) {
  const Call call("open_tree", path);
  const long fd =
      ::syscall(SYS_open_tree, directory.value, path, flags | static_cast<unsigned>(O_CLOEXEC));
  if (fd >= 0) return UniqueFd(static_cast<int>(fd));
  return failed_call(SYS_open_tree,
                     *path != '\0' ? fmt::format("open {}", path) : "clone the mount");
}

Result<void> move_mount(Fd mount, Fd target) {
  const Call call("move_mount");
  return allowed(SYS_move_mount,
                 ::syscall(SYS_move_mount, mount.value, "", target.value, "",
                           MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH),
                 "attach the mount");
}

Result<void> mount_setattr(Fd mount, unsigned flags, const mount_attr& attributes) {
  const Call call("mount_setattr");
  return allowed(
      SYS_mount_setattr,
      ::syscall(SYS_mount_setattr, mount.value, "", flags | static_cast<unsigned>(AT_EMPTY_PATH),
                &attributes, sizeof attributes),
      "set mount attributes");
}

Result<UniqueFd> fsopen(const char* type) {
  const Call call("fsopen", type);
  return allowed_fd(SYS_fsopen, ::syscall(SYS_fsopen, type, FSOPEN_CLOEXEC),
                    "open the filesystem type");
}

Result<UniqueFd> fspick(Fd mount) {
  const Call call("fspick");
  return allowed_fd(SYS_fspick,
                    ::syscall(SYS_fspick, mount.value, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH),
                    "pick the filesystem");
}

Result<void> fsconfig(Fd filesystem, unsigned command, const char* key, const char* value) {
  const Call call("fsconfig", key != nullptr                        ? key
                              : command == FSCONFIG_CMD_RECONFIGURE ? "reconfigure"
                                                                    : "create");
  return allowed(SYS_fsconfig, ::syscall(SYS_fsconfig, filesystem.value, command, key, value, 0),
                 "configure the filesystem");
}

// syscall(2) takes words: where these have 32 bits, an argument of 64 would take the place of two.
Result<UniqueFd> fsmount(Fd filesystem, std::uint64_t attributes) {
  const Call call("fsmount");
  return allowed_fd(
      SYS_fsmount,
      ::syscall(SYS_fsmount, filesystem.value, FSMOUNT_CLOEXEC, static_cast<unsigned>(attributes)),
      "mount the filesystem");
}

Result<void> mount(const char* source, const char* target, const char* type, unsigned long flags,
                   const char* data) {
  const Call call("mount", target);
  return checked(::syscall(SYS_mount, source, target, type, flags, data), "mount");
}

Result<void> unmount(const char* target, int flags) {
  const Call call("umount2", target);
  if (::syscall(SYS_umount2, target, flags) < 0) return fail(errno, "unmount {}", target);
  return {};
}

Result<void> pivot_root(const char* new_root, const char* put_old) {
  const Call call("pivot_root");
  return checked(::syscall(SYS_pivot_root, new_root, put_old), "pivot_root");
}

Result<void> chroot(const char* path) { return checked(::chroot(path), "chroot"); }

}  // namespace ocirun::linux::sys
