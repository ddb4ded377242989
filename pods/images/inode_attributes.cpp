#include "pods/images/inode_attributes.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "linux/base/ids.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/images/libarchive.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

bool is_id(std::int64_t id) { return id >= 0 && id < std::int64_t{UINT32_MAX}; }

/// The label that SELinux gave the file where the image was built means nothing here.
constexpr std::string_view kLabel = "security.selinux";

}  // namespace

bool is_overlay_attribute(std::string_view name) {
  return name.starts_with("trusted.overlay.") || name.starts_with("user.overlay.");
}

Result<void> set_attributes(Fd inode, const TarEntry& entry) {
  if (!is_id(entry.uid) || !is_id(entry.gid))
    return refuse("its owner {}:{} is no pair of ids from 0 to 4294967294", entry.uid, entry.gid);
  TRY(within(sys::fchown(inode, static_cast<uid_t>(entry.uid), static_cast<gid_t>(entry.gid)),
             fmt::format("owner {}:{}", entry.uid, entry.gid)));
  if (entry.type != TarEntry::Type::kSymlink) TRY(sys::fchmod(inode, entry.mode & 07777));
  for (const auto& [name, value] : entry.xattrs) {
    if (is_overlay_attribute(name))
      return refuse("it has the attribute {}, which is overlayfs' own", escaped(name.c_str()));
    if (name == kLabel) continue;
    if (auto set = sys::setxattr(inode, name.c_str(), value); !set)
      return fail(set.error().number(), "set attribute {}", escaped(name.c_str()));
  }
  return {};
}

}  // namespace ocirun::pods
