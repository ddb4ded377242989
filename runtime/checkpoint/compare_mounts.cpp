#include "runtime/checkpoint/compare_mounts.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <string>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

std::string clean(const RootfsPath& path) { return linux::clean_path(path.string()); }

bool lies_below(const std::string& path, const std::string& directory) {
  return path == directory || directory == "/" || path.starts_with(directory + "/");
}

// A masked file is the null device, a masked directory a read-only tmpfs.
Result<void> check_masked(const linux::SafeDir& root, const RootfsPath& path) {
  const auto found = root.open(path, O_PATH);
  if (!found) return {};  // create skips it too
  TRY_ASSIGN(const struct stat status, linux::sys::fstat(*found));
  TRY_ASSIGN(const auto filesystem, linux::sys::fstatfs(*found));
  const bool is_covered = S_ISDIR(status.st_mode)
                              ? filesystem.magic == TMPFS_MAGIC && (filesystem.flags & ST_RDONLY)
                              : linux::verify_null(*found).has_value();
  if (is_covered) return {};
  return refuse("{} is not masked: /linux/maskedPaths of config.json names it", path.string());
}

Result<void> check_read_only(const linux::SafeDir& root, const RootfsPath& path,
                             std::string_view field) {
  const auto found = root.open(path, O_PATH);
  if (!found) return {};
  TRY_ASSIGN(const auto filesystem, linux::sys::fstatfs(*found));
  if ((filesystem.flags & ST_RDONLY) != 0) return {};
  return refuse("{} can be written to: {} of config.json makes it read-only", path.string(), field);
}

bool may_mount(const bundle::Config& config) {
  return config.process && config.process->capabilities &&
         config.process->capabilities->bounding.has(CAP_SYS_ADMIN);
}

// The paths below which the document makes mounts. The mount table has them without the symlinks
// that the document's paths may lead through.
std::vector<std::string> places_of(const bundle::Config& config, const linux::SafeDir& root) {
  std::vector<std::string> places;
  for (const linux::Mount& mount : config.mounts) places.push_back(clean(mount.destination));
  for (const RootfsPath& path : config.masked_paths) places.push_back(clean(path));
  for (const RootfsPath& path : config.readonly_paths) places.push_back(clean(path));
  for (const linux::Device& device : config.devices) places.push_back(clean(device.path));
  places.push_back(linux::dev_path("console").string());
  for (const linux::Device& device : linux::default_devices()) places.push_back(clean(device.path));
  const std::size_t written = places.size();
  for (std::size_t i = 0; i < written; ++i) {
    const auto found = root.open(RootfsPath(places[i]), O_PATH);
    if (!found) continue;
    auto path = linux::sys::readlinkat(Fd{AT_FDCWD}, linux::host_fd_link(*found).c_str());
    if (path && *path != "/") places.push_back(std::move(*path));
  }
  return places;
}

}  // namespace

Result<void> compare_mount_table(std::span<const std::string> places, std::string_view mountinfo) {
  while (const auto entry = linux::next_mount(mountinfo)) {
    const std::string point = linux::unescape_path(entry->mount_point);
    if (point == "/") continue;
    const bool is_known = std::ranges::any_of(
        places, [&](const std::string& place) { return lies_below(point, place); });
    if (!is_known)
      return refuse(
          "a file system of type {} is mounted on {}: config.json does not mount there, "
          "and a container without CAP_SYS_ADMIN cannot",
          entry->type, point);
  }
  return {};
}

Result<void> compare_mounts(const bundle::Config& config, const linux::Procfs& procfs, int init) {
  TRY_ASSIGN(UniqueFd top, linux::sys::openat(procfs.fd(), fmt::format("{}/root", init).c_str(),
                                              O_PATH | O_DIRECTORY));
  const linux::SafeDir root(std::move(top));
  for (const RootfsPath& path : config.masked_paths) TRY(check_masked(root, path));
  for (const RootfsPath& path : config.readonly_paths)
    TRY(check_read_only(root, path, "/linux/readonlyPaths"));
  if (config.root_readonly) TRY(check_read_only(root, RootfsPath("/"), "/root/readonly"));
  if (may_mount(config)) return {};  // it may have changed the others
  for (std::size_t index = 0; index < config.mounts.size(); ++index) {
    const linux::Mount& mount = config.mounts[index];
    const std::uint64_t set = mount.attributes.set | mount.recursive_attributes.set;
    if (mount.bind && (set & MOUNT_ATTR_RDONLY) != 0)
      TRY(check_read_only(root, mount.destination, fmt::format("/mounts/{}", index)));
  }
  TRY_ASSIGN(const std::string table, procfs.read(fmt::format("{}/mountinfo", init)));
  return compare_mount_table(places_of(config, root), table);
}

}  // namespace ocirun::runtime
