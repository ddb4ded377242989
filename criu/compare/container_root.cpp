#include "criu/compare/container_root.hpp"

#include <fcntl.h>
#include <linux/mount.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

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

bool is_id_mapped(const linux::MountEntry& mount) {
  return std::ranges::count(linux::words(mount.attributes, ','), std::string_view("idmapped")) != 0;
}

Result<ContainerRoot> ContainerRoot::open(const linux::Procfs& procfs) {
  OCIRUN_TRY_ASSIGN(UniqueFd root, linux::sys::open("/", O_PATH | O_DIRECTORY));
  OCIRUN_TRY_ASSIGN(std::string table, linux::read_mountinfo(procfs));
  return ContainerRoot(procfs, linux::SafeDir(std::move(root)), std::move(table));
}

Result<std::optional<FoundFile>> ContainerRoot::find(const RootfsPath& path) const {
  FoundFile found;
  auto file = root_.open(path, O_PATH);
  if (is_missing(file)) return std::nullopt;
  if (!file) return std::unexpected(std::move(file).error());
  found.file = *std::move(file);
  OCIRUN_TRY_ASSIGN(found.path, procfs_.path_of(found.file));
  OCIRUN_TRY_ASSIGN(found.mount, linux::mount_of(procfs_, found.file));
  for (std::string_view rest = table_; const auto entry = linux::next_mount(rest);) {
    const bool is_here = linux::unescape_path(entry->mount_point) == found.path;
    found.mounts_on_path += is_here ? 1 : 0;
    if (entry->id != found.mount) continue;
    found.is_mounted = is_here;
    found.is_id_mapped = is_id_mapped(*entry);
  }
  return found;
}

Result<void> check_mount_flags(Fd file, std::uint64_t wanted, std::string_view path) {
  OCIRUN_TRY_ASSIGN(const auto filesystem, linux::sys::fstatfs(file));
  const std::uint64_t lacking = wanted & ~filesystem.flags;
  return lacking == 0 ? Result<void>{} : refuse("{} lacks {}", path, names_of(lacking));
}

}  // namespace ocirun::runtime
