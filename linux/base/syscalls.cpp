#include "linux/base/syscalls.hpp"

#include <limits.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>

#include "linux/base/outcome.hpp"
#include "linux/base/outer_filter.hpp"
#include "linux/base/timeline.hpp"

namespace ocirun::linux::sys {

using timeline::Call;

namespace {

constexpr unsigned kStatxMountIdUnique = 0x4000;  // STATX_MNT_ID_UNIQUE

/// Repeats the call while it fails with EINTR.
template <typename Try>
auto retry(Try attempt) {
  decltype(attempt()) value;
  do {
    value = attempt();
  } while (value < 0 && errno == EINTR);
  return value;
}

Result<struct stat> stat_of(Fd directory, const char* name, int flags) {
  struct stat info{};
  if (::fstatat(directory.value, name, &info, flags) < 0)
    return *name != '\0' ? fail(errno, "stat {}", name) : last_error("look at an open file");
  return info;
}

/// Names an open file for calls that take a path only. The link leads to the file itself.
std::string own_link(Fd file) { return fmt::format("/proc/self/fd/{}", file.value); }

/// Calls `with_fd`. If the descriptor is O_PATH (EBADF), calls `with_path`.
template <typename WithFd, typename WithPath>
ssize_t by_fd_or_path(Fd file, WithFd with_fd, WithPath with_path) {
  const ssize_t value = with_fd(file.value);
  if (value >= 0 || errno != EBADF) return value;
  return with_path(own_link(file).c_str());
}

/// Calls `read`, a callable (buffer, capacity), again while the value grows. Returns the value.
template <typename Read>
Result<std::string> read_xattr(std::string_view what, Read read) {
  for (;;) {
    const ssize_t size = read(nullptr, 0);
    if (size < 0) return last_error(what);
    std::string value(static_cast<std::size_t>(size), '\0');
    if (size == 0) return value;
    const ssize_t got = read(value.data(), value.size());
    if (got < 0 && errno == ERANGE) continue;
    if (got < 0) return last_error(what);
    value.resize(static_cast<std::size_t>(got));
    return value;
  }
}

}  // namespace

std::unexpected<Error> last_error(std::string_view what) {
  return std::unexpected(Error(errno, std::string(what)));
}

Result<UniqueFd> open(const char* path, int flags, mode_t mode) {
  return openat(Fd{AT_FDCWD}, path, flags, mode);
}

Result<UniqueFd> openat(Fd directory, const char* path, int flags, mode_t mode) {
  const Call call("openat", path);
  const int fd = retry([&] { return ::openat(directory.value, path, flags | O_CLOEXEC, mode); });
  if (fd < 0) return fail(errno, "open {}", path);
  return UniqueFd(fd);
}

Result<UniqueFd> openat2(Fd directory, const char* path, int flags, std::uint64_t resolve) {
  const Call call("openat2", path);
  open_how how{};
  how.flags = static_cast<std::uint64_t>(static_cast<unsigned>(flags | O_CLOEXEC));
  how.resolve = resolve;
  const long fd =
      retry([&] { return ::syscall(SYS_openat2, directory.value, path, &how, sizeof how); });
  if (fd < 0) return failed_call(SYS_openat2, fmt::format("open {}", path));
  return UniqueFd(static_cast<int>(fd));
}

Result<void> mkdirat(Fd directory, const char* name, mode_t mode) {
  const Call call("mkdirat", name);
  return checked(::mkdirat(directory.value, name, mode), "make directory");
}

Result<void> mknodat(Fd directory, const char* name, mode_t mode, dev_t device) {
  const Call call("mknodat", name);
  return checked(::mknodat(directory.value, name, mode, device), "make node");
}

Result<void> symlinkat(const char* target, Fd directory, const char* name) {
  return checked(::symlinkat(target, directory.value, name), "make symlink");
}

Result<void> unlinkat(Fd directory, const char* name, int flags) {
  const Call call("unlinkat", name);
  return checked(::unlinkat(directory.value, name, flags), "remove");
}

Result<void> linkat(Fd directory, const char* name, Fd new_directory, const char* new_name) {
  return checked(::linkat(directory.value, name, new_directory.value, new_name, 0), "link");
}

Result<void> renameat2(Fd directory, const char* name, Fd new_directory, const char* new_name,
                       unsigned flags) {
  const Call call("renameat2", new_name);
  return checked(::renameat2(directory.value, name, new_directory.value, new_name, flags),
                 "rename");
}

// Links through /proc/self/fd, because root of a user namespace may link a bare descriptor
// (AT_EMPTY_PATH) only since Linux 6.10.
Result<void> name_file(Fd file, Fd directory, const char* name) {
  return checked(
      ::linkat(AT_FDCWD, own_link(file).c_str(), directory.value, name, AT_SYMLINK_FOLLOW),
      "name the file");
}

Result<std::string> readlinkat(Fd directory, const char* name) {
  char target[PATH_MAX];
  const ssize_t size = ::readlinkat(directory.value, name, target, sizeof target);
  if (size < 0) return fail(errno, "read symlink {}", name);
  if (size == static_cast<ssize_t>(sizeof target))
    return fail(ENAMETOOLONG, "read symlink {}", name);
  return std::string(target, static_cast<std::size_t>(size));
}

Result<struct stat> fstat(Fd fd) { return stat_of(fd, "", AT_EMPTY_PATH); }

Result<bool> is_same_file(Fd a, Fd b) {
  OCIRUN_TRY_ASSIGN(const struct stat first, fstat(a));
  OCIRUN_TRY_ASSIGN(const struct stat second, fstat(b));
  return is_same_file(first, second);
}

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

Result<struct stat> fstatat(Fd directory, const char* name) {
  return stat_of(directory, name, AT_SYMLINK_NOFOLLOW);
}

Result<void> fchown(Fd fd, uid_t uid, gid_t gid) {
  return checked(::fchownat(fd.value, "", uid, gid, AT_EMPTY_PATH), "change owner");
}

Result<void> fchmod(Fd fd, mode_t mode) {
  return checked(by_fd_or_path(
                     fd, [&](int number) { return ssize_t{::fchmod(number, mode)}; },
                     [&](const char* path) { return ssize_t{::chmod(path, mode)}; }),
                 "change mode");
}

Result<void> fchmodat(Fd directory, const char* name, mode_t mode) {
  return checked(::fchmodat(directory.value, name, mode, 0), "change mode");
}

Result<void> utimensat(Fd directory, const char* name, const timespec& accessed,
                       const timespec& modified) {
  const timespec times[2] = {accessed, modified};
  const int itself = *name == '\0' ? AT_EMPTY_PATH : 0;
  return checked(::utimensat(directory.value, name, times, AT_SYMLINK_NOFOLLOW | itself),
                 "set times");
}

Result<void> setxattr(Fd file, const char* name, std::string_view value) {
  const auto with_fd = [&](int fd) {
    return ssize_t{::fsetxattr(fd, name, value.data(), value.size(), 0)};
  };
  const auto with_path = [&](const char* path) {
    return ssize_t{::setxattr(path, name, value.data(), value.size(), 0)};
  };
  if (by_fd_or_path(file, with_fd, with_path) < 0) return fail(errno, "set attribute {}", name);
  return {};
}

Result<std::string> getxattr(Fd file, const char* name) {
  return read_xattr(fmt::format("read attribute {}", name), [&](char* to, std::size_t size) {
    return by_fd_or_path(
        file, [&](int fd) { return ::fgetxattr(fd, name, to, size); },
        [&](const char* path) { return ::getxattr(path, name, to, size); });
  });
}

Result<void> removexattr(Fd file, const char* name) {
  if (::fremovexattr(file.value, name) < 0) return fail(errno, "remove attribute {}", name);
  return {};
}

Result<void> syncfs(Fd file) {
  const Call call("syncfs");
  return checked(::syncfs(file.value), "write the filesystem to its storage");
}

Result<std::vector<std::string>> listxattr(Fd file) {
  OCIRUN_TRY_ASSIGN(const std::string names,
                    read_xattr("list attributes", [&](char* to, std::size_t size) {
                      return by_fd_or_path(
                          file, [&](int fd) { return ::flistxattr(fd, to, size); },
                          [&](const char* path) { return ::listxattr(path, to, size); });
                    }));
  std::vector<std::string> list;
  for (std::size_t begin = 0; begin < names.size(); begin = names.find('\0', begin) + 1)
    list.emplace_back(names.c_str() + begin);
  return list;
}

Result<std::uint64_t> mount_id(Fd directory, const char* name) {
  struct statx info{};
  const int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
  // Linux 6.8 has mount ids that are never reused. An older kernel ignores this bit.
  if (::statx(directory.value, name, flags, STATX_MNT_ID | kStatxMountIdUnique, &info) < 0)
    return last_error("ask for the mount id");
  return (info.stx_mask & (STATX_MNT_ID | kStatxMountIdUnique)) != 0
             ? std::uint64_t{info.stx_mnt_id}
             : std::uint64_t{0};
}

Result<FilesystemInfo> fstatfs(Fd fd) {
  struct statfs info{};
  if (retry([&] { return ::fstatfs(fd.value, &info); }) < 0)
    return last_error("ask for the filesystem's kind");
  return FilesystemInfo{static_cast<std::uint32_t>(info.f_type),
                        static_cast<std::uint64_t>(info.f_flags)};
}

Result<void> chdir(const char* path) {
  if (::chdir(path) < 0) return fail(errno, "chdir {}", path);
  return {};
}
Result<void> fchdir(Fd directory) { return checked(::fchdir(directory.value), "change directory"); }

namespace {

constexpr std::size_t kReadSize = 4096;

/// A read of nothing is the end of the file. So is a read that does not fill the buffer, once at
/// least `size` bytes were read.
Result<std::string> read_to_end(Fd fd, std::size_t limit, std::size_t size) {
  const Call call("read");
  std::string text;
  char block[kReadSize];
  for (;;) {
    const ssize_t got = retry([&] { return ::read(fd.value, block, sizeof block); });
    if (got < 0) return last_error("read");
    const auto count = static_cast<std::size_t>(got);
    if (text.size() + count > limit) return fail(EFBIG, "read: more than {} bytes", limit);
    text.append(block, count);
    if (count == 0 || (count < kReadSize && text.size() >= size)) return text;
  }
}

}  // namespace

Result<std::string> read_all(Fd fd, std::size_t limit) {
  return read_to_end(fd, limit, std::numeric_limits<std::size_t>::max());
}

Result<std::string> read_regular(Fd fd, std::size_t limit, std::size_t size) {
  return read_to_end(fd, limit, size);
}

Result<std::string> read_value(Fd fd, std::size_t limit) { return read_to_end(fd, limit, 0); }

Result<void> write_once(Fd fd, std::string_view data) {
  const ssize_t done = retry([&] { return ::write(fd.value, data.data(), data.size()); });
  if (done < 0) return last_error("write");
  if (static_cast<std::size_t>(done) != data.size())
    return fail(EIO, "write: {} of {} bytes", done, data.size());
  return {};
}

}  // namespace ocirun::linux::sys
