#include "linux/files/copy_up.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::linux {
namespace {

constexpr int kMaxDepth = 128;  // each level needs three descriptors
constexpr std::size_t kChunk = 1 << 20;

Result<void> copy_directory(Fd from, Fd to, int depth);

Result<void> copy_content(Fd from, Fd to) {
  for (;;) {
    const ssize_t sent = ::sendfile(to.value, from.value, nullptr, kChunk);
    if (sent == 0) return {};
    if (sent < 0 && errno != EINTR) return sys::last_error("copy");
  }
}

/// Sets the owner before the mode, because chown(2) clears set-user-id bits.
Result<void> copy_ownership(Fd made, const struct stat& info, CopyUpKeeps keeps = {}) {
  constexpr auto kUnchanged = static_cast<std::uint32_t>(-1);  // chown(2)
  OCIRUN_TRY(sys::fchown(made, keeps.uid ? kUnchanged : info.st_uid,
                         keeps.gid ? kUnchanged : info.st_gid));
  if (!keeps.mode && ::fchmod(made.value, info.st_mode & 07777) < 0)
    return sys::last_error("change mode");
  const timespec times[2] = {info.st_atim, info.st_mtim};
  if (::futimens(made.value, times) < 0) return sys::last_error("set time");
  return {};
}

Result<void> copy_file(Fd from, Fd to, const char* name) {
  // O_NONBLOCK: the name may refer to a fifo by now.
  OCIRUN_TRY_ASSIGN(const UniqueFd source,
                    sys::openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(source));
  if (!S_ISREG(info.st_mode)) return refuse("it changed while it was copied");
  OCIRUN_TRY_ASSIGN(const UniqueFd copy,
                    sys::openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  OCIRUN_TRY(copy_content(source, copy));
  return copy_ownership(copy, info);
}

/// The directory that is opened is the one that was made: `to` is a new filesystem, which no
/// program of the container can reach yet.
Result<void> copy_subdirectory(Fd from, Fd to, const char* name, int depth) {
  if (depth == kMaxDepth) return refuse("more than {} directories deep", kMaxDepth);
  OCIRUN_TRY_ASSIGN(const UniqueFd source,
                    sys::openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  OCIRUN_TRY(sys::mkdirat(to, name, 0700));
  OCIRUN_TRY_ASSIGN(const UniqueFd copy,
                    sys::openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  OCIRUN_TRY(copy_directory(source, copy, depth + 1));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(source));
  return copy_ownership(copy, info);
}

Result<void> copy_symlink(Fd from, Fd to, const char* name, const struct stat& info) {
  OCIRUN_TRY_ASSIGN(const std::string target, sys::readlinkat(from, name));
  OCIRUN_TRY(sys::symlinkat(target.c_str(), to, name));
  OCIRUN_TRY_ASSIGN(const UniqueFd made, sys::openat(to, name, O_PATH | O_NOFOLLOW));
  return sys::fchown(made, info.st_uid, info.st_gid);
}

Result<void> copy_node(Fd to, const char* name, const struct stat& info) {
  OCIRUN_TRY(sys::mknodat(to, name, info.st_mode, info.st_rdev));
  OCIRUN_TRY_ASSIGN(const UniqueFd made, sys::openat(to, name, O_PATH | O_NOFOLLOW));
  return sys::fchown(made, info.st_uid, info.st_gid);
}

Result<void> copy_entry(Fd from, Fd to, const char* name, int depth) {
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstatat(from, name));
  switch (info.st_mode & S_IFMT) {
    case S_IFREG:
      return copy_file(from, to, name);
    case S_IFDIR:
      return copy_subdirectory(from, to, name, depth);
    case S_IFLNK:
      return copy_symlink(from, to, name, info);
    default:
      return copy_node(to, name, info);
  }
}

Result<void> copy_directory(Fd from, Fd to, int depth) {
  return for_each_entry(from, [&](const char* name, unsigned char) {
    return within(copy_entry(from, to, name, depth), name);
  });
}

}  // namespace

Result<void> copy_up(Fd from, Fd to, CopyUpKeeps keeps) {
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(from));
  if (!S_ISDIR(info.st_mode)) return fail(ENOTDIR, "tmpcopyup: the destination is a file");
  OCIRUN_TRY_ASSIGN(const UniqueFd copy, sys::openat(to, ".", O_RDONLY | O_DIRECTORY));
  OCIRUN_TRY(within(copy_directory(from, copy, 0), "tmpcopyup"));
  return within(copy_ownership(copy, info, keeps), "tmpcopyup");
}

}  // namespace ocirun::linux
