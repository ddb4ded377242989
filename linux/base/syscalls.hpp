#pragma once

// Thin wrappers for system calls and constants that glibc 2.36 or the headers of Linux 6.1 lack,
// and for the raw calls that take names. Each returns the kernel's result as a Result; EINTR is
// retried where that is safe. The frame of an error names the object of the call; callers add the
// purpose.
//
// <linux/mount.h> and glibc's <sys/mount.h> cannot be included together; ocirun uses the kernel's.

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux::sys {

/// errno as an Error with one frame, `what`.
std::unexpected<Error> last_error(std::string_view what);

// Calls that take names. O_CLOEXEC is added to every open.
Result<UniqueFd> open(const char* path, int flags, mode_t mode = 0);
Result<UniqueFd> openat(Fd directory, const char* path, int flags, mode_t mode = 0);
/// Errors: ENOSYS before Linux 5.6, and where a seccomp filter outside of ocirun refuses the call.
Result<UniqueFd> openat2(Fd directory, const char* path, int flags, std::uint64_t resolve);
Result<void> mkdirat(Fd directory, const char* name, mode_t mode);
Result<void> mknodat(Fd directory, const char* name, mode_t mode, dev_t device);
Result<void> symlinkat(const char* target, Fd directory, const char* name);
Result<void> unlinkat(Fd directory, const char* name, int flags);
/// Makes the hard link `new_name` to `name`. If `name` is a symlink, the link is made to the
/// symlink itself.
Result<void> linkat(Fd directory, const char* name, Fd new_directory, const char* new_name);
/// `flags`: RENAME_NOREPLACE …, or 0.
Result<void> renameat2(Fd directory, const char* name, Fd new_directory, const char* new_name,
                       unsigned flags);
/// Gives a file that was opened with O_TMPFILE the name `name`. Errors: EEXIST if the name is
/// taken.
Result<void> name_file(Fd file, Fd directory, const char* name);
/// The target of a symlink. With `name` "", `directory` is an O_PATH descriptor of the symlink
/// itself.
Result<std::string> readlinkat(Fd directory, const char* name);

// Inodes.
Result<struct stat> fstat(Fd fd);
/// Compares device and inode, because two mounts may show the same file.
Result<bool> is_same_file(Fd a, Fd b);
bool is_same_file(const struct stat& a, const struct stat& b);
Result<struct stat> fstatat(Fd directory, const char* name);         // never follows a symlink
Result<void> fchown(Fd fd, uid_t uid, gid_t gid);                    // O_PATH descriptors too
Result<void> fchmod(Fd fd, mode_t mode);                             // O_PATH descriptors too
Result<void> fchmodat(Fd directory, const char* name, mode_t mode);  // follows symlinks
/// Sets the times of last access and change of the content; a trailing symlink is not followed.
/// With `name` "", those of `directory`, which may be an O_PATH descriptor of any file (before
/// Linux 5.8: EINVAL).
Result<void> utimensat(Fd directory, const char* name, const timespec& accessed,
                       const timespec& modified);
/// Sets an extended attribute of an open file. An O_PATH descriptor works too, even one of a
/// symlink, because the call goes through /proc.
Result<void> setxattr(Fd file, const char* name, std::string_view value);
/// Reads an extended attribute; O_PATH descriptors work too. Errors: ENODATA if the file does not
/// have the attribute.
Result<std::string> getxattr(Fd file, const char* name);
/// Removes an extended attribute; O_PATH descriptors do not work. Errors: ENODATA if the file does
/// not have the attribute.
Result<void> removexattr(Fd file, const char* name);
/// Writes all cached data of the file's filesystem to its storage.
Result<void> syncfs(Fd file);
/// The names of all extended attributes; O_PATH descriptors work too.
Result<std::vector<std::string>> listxattr(Fd file);
/// The id of the mount that `name` ("": the descriptor itself) lies on, for telling two mounts
/// apart; 0 where the kernel does not report it (before 5.8). Before 6.8 the id of a removed mount
/// may be reused. A trailing symlink is not followed.
Result<std::uint64_t> mount_id(Fd directory, const char* name = "");
/// statfs(2): the filesystem's magic number, and the mount's flags (ST_*).
struct FilesystemInfo {
  std::uint64_t magic = 0;
  std::uint64_t flags = 0;
};
Result<FilesystemInfo> fstatfs(Fd fd);

// The mount API of Linux 5.2 and mount_setattr(2) of 5.12. The error is ENOSYS too where
// a seccomp filter outside of ocirun refuses the call with EPERM (outer_filter.hpp).
Result<UniqueFd> open_tree(Fd directory, const char* path, unsigned flags);
Result<void> move_mount(Fd mount, Fd target);  // by descriptors only, no path is resolved
Result<void> mount_setattr(Fd mount, unsigned flags, const mount_attr& attributes);
Result<UniqueFd> fsopen(const char* type);
Result<UniqueFd> fspick(Fd mount);
Result<void> fsconfig(Fd filesystem, unsigned command, const char* key, const char* value);
Result<UniqueFd> fsmount(Fd filesystem, std::uint64_t attributes);

// Calls that are older than the mount API. Paths are "/", "." or below a trusted procfs, never a
// container's.
Result<void> mount(const char* source, const char* target, const char* type, unsigned long flags,
                   const char* data);
Result<void> unmount(const char* target, int flags);
inline constexpr int kDetach = 2;  // MNT_DETACH of <sys/mount.h>
Result<void> pivot_root(const char* new_root, const char* put_old);
Result<void> chroot(const char* path);
Result<void> chdir(const char* path);
Result<void> fchdir(Fd directory);

/// Reads a whole file of at most `limit` bytes; a larger one is EFBIG.
Result<std::string> read_all(Fd fd, std::size_t limit);
/// As read_all(), for a regular file of `size` bytes, as fstat(2) says. Saves the read that finds
/// the end.
Result<std::string> read_regular(Fd fd, std::size_t limit, std::size_t size);
/// As read_all(), for a file of procfs or cgroupfs of which a read returns as much as the buffer
/// holds: a read that does not fill the buffer has reached the end. Not for lists (mountinfo,
/// uid_map, cgroup.procs), of which a read may return some lines.
Result<std::string> read_value(Fd fd, std::size_t limit);
/// Writes `data` with a single write(2); a short write is EIO.
Result<void> write_once(Fd fd, std::string_view data);

}  // namespace ocirun::linux::sys
