#include "pods/images/inode_attributes.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "linux/base/ids.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/images/escaped.hpp"

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
  TRY_ASSIGN(const UniqueFd inode, sys::openat(parent, name, O_PATH | O_NOFOLLOW));
  TRY(set_owner(inode, entry));
  if (entry.type == TarEntry::Type::kSymlink) return {};
  return sys::fchmodat(parent, name, entry.mode & 07777);
}

Result<std::uint64_t> set_attributes(Fd inode, const TarEntry& entry) {
  TRY(set_owner(inode, entry));
  TRY(sys::fchmod(inode, entry.mode & 07777));
  std::uint64_t left_out = 0;
  for (const auto& [name, value] : entry.xattrs) {
    if (name == kDefaultAcl && entry.type == TarEntry::Type::kDirectory) continue;
    if (!is_kept_attribute(name) || name == kDefaultAcl) {
      ++left_out;
      continue;
    }
    if (auto set = sys::setxattr(inode, name.c_str(), value); !set)
      return fail(set.error().number(), "set attribute {}", escaped(name));
  }
  return left_out;
}

Result<void> remove_other_attributes(Fd inode, const TarEntry& entry) {
  TRY_ASSIGN(const std::vector<std::string> names, kept_attributes(inode));
  for (const std::string& name : names) {
    const auto is_it = [&](const auto& attribute) { return attribute.first == name; };
    if (std::ranges::none_of(entry.xattrs, is_it)) TRY(sys::removexattr(inode, name.c_str()));
  }
  return {};
}

Result<TarEntry> describe_inode(Fd inode) {
  TRY_ASSIGN(const struct stat info, sys::fstat(inode));
  TarEntry like;
  like.type = S_ISDIR(info.st_mode) ? TarEntry::Type::kDirectory : TarEntry::Type::kFile;
  like.size = static_cast<std::uint64_t>(info.st_size);
  like.mode = info.st_mode & 07777;
  like.uid = info.st_uid;
  like.gid = info.st_gid;
  like.accessed = info.st_atim;
  like.modified = info.st_mtim;
  TRY_ASSIGN(const std::vector<std::string> names, kept_attributes(inode));
  for (const std::string& name : names) {
    TRY_ASSIGN(std::string value, sys::getxattr(inode, name.c_str()));
    like.xattrs.emplace_back(name, std::move(value));
  }
  return like;
}

}  // namespace ocirun::pods
