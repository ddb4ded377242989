#include "runtime/compare/mount_flags.hpp"

#include <fmt/format.h>
#include <linux/mount.h>

#include <vector>

#include "linux/base/syscalls.hpp"

namespace ocirun::runtime {
namespace {

static_assert(ST_RDONLY == MOUNT_ATTR_RDONLY && ST_NOSUID == MOUNT_ATTR_NOSUID &&
              ST_NODEV == MOUNT_ATTR_NODEV && ST_NOEXEC == MOUNT_ATTR_NOEXEC);

std::string names_of(std::uint64_t flags) {
  std::vector<std::string_view> names;
  if ((flags & ST_RDONLY) != 0) names.emplace_back("ro");
  if ((flags & ST_NOSUID) != 0) names.emplace_back("nosuid");
  if ((flags & ST_NODEV) != 0) names.emplace_back("nodev");
  if ((flags & ST_NOEXEC) != 0) names.emplace_back("noexec");
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Result<void> check_mount_flags(Fd file, std::uint64_t wanted, std::string_view path) {
  TRY_ASSIGN(const auto filesystem, linux::sys::fstatfs(file));
  const std::uint64_t lacking = wanted & ~filesystem.flags;
  return lacking == 0 ? Result<void>{} : refuse("{} lacks {}", path, names_of(lacking));
}

}  // namespace ocirun::runtime
