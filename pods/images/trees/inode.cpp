#include "pods/images/trees/inode.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/ids.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr std::string_view kOverlaysUserPrefix = "user.overlay.";
constexpr std::array<std::string_view, 3> kKept{"security.capability", "system.posix_acl_access",
                                                kDefaultAcl};

bool is_id(std::int64_t id) { return id >= 0 && id < std::int64_t{UINT32_MAX}; }

Result<void> set_owner(Fd inode, const TarEntry& entry) {
  if (!is_id(entry.uid) || !is_id(entry.gid))
    return refuse("its owner {}:{} is no pair of ids from 0 to 4294967294", entry.uid, entry.gid);
  const auto set = sys::fchown(inode, static_cast<uid_t>(entry.uid), static_cast<gid_t>(entry.gid));
  if (set) return {};
  if (set.error().number() != EINVAL)
    return fail(set.error().number(), "owner {}:{}", entry.uid, entry.gid);
  return fail(
      EINVAL,
      "owner {}:{} does not exist in this user namespace: an ordinary user needs the "
      "package uidmap, and enough ids in /etc/subuid and /etc/subgid (an administrator can: "
      "usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER)",
      entry.uid, entry.gid);
}

/// The names of the kept attributes that an inode has now.
Result<std::vector<std::string>> kept_attributes(Fd inode) {
  auto names = sys::listxattr(inode);
  if (!names && names.error().number() == EOPNOTSUPP) return std::vector<std::string>();
  if (names) std::erase_if(*names, [](const auto& name) { return !is_kept_attribute(name); });
  return names;
}

}  // namespace

bool is_overlay_attribute(std::string_view name) {
  return name.starts_with("trusted.overlay.") || name.starts_with(kOverlaysUserPrefix);
}

bool is_kept_attribute(std::string_view name) {
  if (name.starts_with("user.")) return !name.starts_with(kOverlaysUserPrefix);
  return std::ranges::find(kKept, name) != kKept.end();
}

Result<void> set_owner_and_mode(Fd parent, const char* name, const TarEntry& entry) {
  OCIRUN_TRY_ASSIGN(const UniqueFd inode, sys::openat(parent, name, O_PATH | O_NOFOLLOW));
  OCIRUN_TRY(set_owner(inode, entry));
  if (entry.type == TarEntry::Type::kSymlink) return {};
  return sys::fchmodat(parent, name, entry.mode & 07777);
}

Result<std::uint64_t> set_attributes(Fd inode, const TarEntry& entry) {
  OCIRUN_TRY(set_owner(inode, entry));
  OCIRUN_TRY(sys::fchmod(inode, entry.mode & 07777));
  std::uint64_t left_out = 0;
  for (const auto& [name, value] : entry.xattrs) {
    if (name == kDefaultAcl && entry.type == TarEntry::Type::kDirectory) continue;
    if (!is_kept_attribute(name) || name == kDefaultAcl) {
      ++left_out;
      continue;
    }
    if (auto set = sys::setxattr(inode, name.c_str(), value); !set)
      return fail(set.error().number(), "set attribute {}", bundle::escaped(name));
  }
  return left_out;
}

Result<void> remove_other_attributes(Fd inode, const TarEntry& entry) {
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> names, kept_attributes(inode));
  for (const std::string& name : names) {
    const auto is_it = [&](const auto& attribute) { return attribute.first == name; };
    if (std::ranges::none_of(entry.xattrs, is_it))
      OCIRUN_TRY(sys::removexattr(inode, name.c_str()));
  }
  return {};
}

Result<TarEntry> describe_inode(Fd inode) {
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(inode));
  TarEntry like;
  like.type = S_ISDIR(info.st_mode) ? TarEntry::Type::kDirectory : TarEntry::Type::kFile;
  like.size = static_cast<std::uint64_t>(info.st_size);
  like.mode = info.st_mode & 07777;
  like.uid = info.st_uid;
  like.gid = info.st_gid;
  like.accessed = info.st_atim;
  like.modified = info.st_mtim;
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> names, kept_attributes(inode));
  for (const std::string& name : names) {
    OCIRUN_TRY_ASSIGN(std::string value, sys::getxattr(inode, name.c_str()));
    like.xattrs.emplace_back(name, std::move(value));
  }
  return like;
}

namespace {

constexpr std::size_t kCopyBlock = std::size_t{128} << 10;
constexpr off_t kMostAtOnce = off_t{1} << 30;  // of one copy_file_range(2)

/// SELinux gives the copy a label of its own.
bool is_left_out(const std::string& attribute) {
  return attribute == "security.selinux" || is_overlay_attribute(attribute);
}

Result<std::vector<std::string>> attributes_of(Fd inode) {
  auto names = sys::listxattr(inode);
  if (!names && names.error().number() == EOPNOTSUPP) return std::vector<std::string>();
  if (!names) return names;
  std::erase_if(*names, is_left_out);
  return names;
}

/// Copies the owner and the extended attributes. The owner is set first, because chown(2) clears
/// file capabilities. The caller sets the mode later: a user other than root cannot set attributes
/// of a file that its mode protects.
Result<void> copy_owner_and_attributes(Fd from, const struct stat& info, Fd to, Owners owners) {
  if (owners == Owners::kKeep)
    OCIRUN_TRY(
        within(sys::fchown(to, info.st_uid, info.st_gid), "owner {}:{}", info.st_uid, info.st_gid));
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> names, attributes_of(from));
  for (const std::string& name : names) {
    OCIRUN_TRY_ASSIGN(const std::string value, sys::getxattr(from, name.c_str()));
    if (const auto set = sys::setxattr(to, name.c_str(), value); !set)
      return fail(set.error().number(), "set attribute {}", bundle::escaped(name));
  }
  return {};
}

Result<void> copy_piece_by_bytes(Fd from, Fd to, off_t begin, off_t end) {
  std::array<char, kCopyBlock> block;
  while (begin < end) {
    const auto wanted = std::min(block.size(), static_cast<std::size_t>(end - begin));
    const ssize_t got = ::pread(from.value, block.data(), wanted, begin);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno, "read");
    if (got == 0) return refuse("it became shorter while it was copied");
    for (ssize_t written = 0; written < got;) {
      const ssize_t done = ::pwrite(to.value, block.data() + written,
                                    static_cast<std::size_t>(got - written), begin + written);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return fail(errno, "write");
      written += done;
    }
    begin += got;
  }
  return {};
}

/// Copies the bytes from `begin` to `end`. If copy_file_range(2) fails or stops early, read(2) and
/// write(2) copy the rest, and report the error.
Result<void> copy_piece(Fd from, Fd to, off_t begin, off_t end) {
  while (begin < end) {
    loff_t in = begin, out = begin;
    const auto wanted = static_cast<std::size_t>(std::min(end - begin, kMostAtOnce));
    const ssize_t done = ::copy_file_range(from.value, &in, to.value, &out, wanted, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return copy_piece_by_bytes(from, to, begin, end);
    begin += done;
  }
  return {};
}

}  // namespace

Result<void> copy_file_content(Fd from, Fd to, off_t size) {
  if (size == 0 || ::ioctl(to.value, FICLONE, from.value) == 0) return {};
  for (off_t begin = 0; begin < size;) {
    begin = ::lseek(from.value, begin, SEEK_DATA);
    if (begin < 0 && errno == ENXIO) break;  // only a hole is left
    if (begin < 0) return fail(errno, "look for the data");
    const off_t hole = ::lseek(from.value, begin, SEEK_HOLE);
    if (hole < 0) return fail(errno, "look for the holes");
    // A filesystem in user space may answer anything.
    if (hole <= begin) return refuse("its filesystem says that it has a hole in front of its data");
    OCIRUN_TRY(copy_piece(from, to, begin, std::min(hole, size)));
    begin = hole;
  }
  if (::ftruncate(to.value, size) != 0) return fail(errno, "set its size of {} bytes", size);
  return {};
}

namespace {

Result<void> copy_file(Fd from, Fd to, const char* name, const struct stat& info, Owners owners) {
  OCIRUN_TRY_ASSIGN(const UniqueFd source,
                    sys::openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  OCIRUN_TRY_ASSIGN(const UniqueFd copy,
                    sys::openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  OCIRUN_TRY(copy_file_content(source, copy, info.st_size));
  OCIRUN_TRY(copy_owner_and_attributes(source, info, copy, owners));
  OCIRUN_TRY(sys::utimensat(to, name, info.st_atim, info.st_mtim));
  return sys::fchmod(copy, info.st_mode & 07777);
}

Result<void> copy_symlink_or_node(Fd from, Fd to, const char* name, const struct stat& info,
                                  Owners owners) {
  const bool is_symlink = S_ISLNK(info.st_mode);
  if (is_symlink) {
    OCIRUN_TRY_ASSIGN(const std::string target, sys::readlinkat(from, name));
    OCIRUN_TRY(sys::symlinkat(target.c_str(), to, name));
  } else {
    OCIRUN_TRY(sys::mknodat(to, name, (info.st_mode & S_IFMT) | 0600, info.st_rdev));
  }
  OCIRUN_TRY_ASSIGN(const UniqueFd source, sys::openat(from, name, O_PATH | O_NOFOLLOW));
  OCIRUN_TRY_ASSIGN(const UniqueFd copy, sys::openat(to, name, O_PATH | O_NOFOLLOW));
  OCIRUN_TRY(copy_owner_and_attributes(source, info, copy, owners));
  OCIRUN_TRY(sys::utimensat(to, name, info.st_atim, info.st_mtim));
  if (is_symlink) return {};
  return sys::fchmod(copy, info.st_mode & 07777);
}

}  // namespace

Result<bool> copy_inode(Fd from, Fd to, const char* name, const struct stat& info,
                        const CopyOptions& options) {
  const bool is_device = S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode);
  if (S_ISSOCK(info.st_mode) || (is_device && options.devices == DeviceNodes::kLeaveOut))
    return false;
  if (S_ISREG(info.st_mode))
    OCIRUN_TRY(copy_file(from, to, name, info, options.owners));
  else
    OCIRUN_TRY(copy_symlink_or_node(from, to, name, info, options.owners));
  return true;
}

Result<void> copy_directory_attributes(Fd from, const struct stat& info, Fd to, Owners owners) {
  OCIRUN_TRY(copy_owner_and_attributes(from, info, to, owners));
  OCIRUN_TRY(sys::utimensat(to, ".", info.st_atim, info.st_mtim));
  return sys::fchmod(to, info.st_mode & 07777);
}

Result<void> remove_attributes(Fd directory) {
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> names, attributes_of(directory));
  for (const std::string& name : names) OCIRUN_TRY(sys::removexattr(directory, name.c_str()));
  return {};
}

}  // namespace ocirun::pods
