#include "runtime/compare/outside_mounts.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {

using linux::clean;
using linux::NamespaceKind;

std::string without_links(const std::string& path) {
  const auto file = linux::sys::open(path.c_str(), O_PATH);
  return file ? linux::host_path_of(*file).value_or(path) : path;
}

std::vector<OutsideMount> outside_mounts(const bundle::Config& config,
                                         std::span<const linux::CgroupHierarchy> cgroups) {
  using Kind = OutsideMount::Kind;
  std::vector<OutsideMount> mounts;
  const auto add_device = [&](const linux::Device& device) {
    if (device.kind == linux::Device::Kind::kFifo ||
        std::ranges::find(mounts, clean(device.path), &OutsideMount::name) != mounts.end())
      return;
    mounts.push_back({.kind = Kind::kDevice,
                      .name = clean(device.path),
                      .source = device.path.string(),
                      .mount = nullptr,
                      .device = device});
  };
  const bool is_pure_v2 = cgroups.size() == 1 && cgroups.front().unified;
  const auto add_cgroups = [&](const linux::Mount& mount) {
    for (const linux::CgroupHierarchy& hierarchy : cgroups)
      mounts.push_back({.kind = Kind::kCgroup,
                        .name = clean(mount.destination) + (is_pure_v2 ? "" : "/" + hierarchy.name),
                        .source = hierarchy.own_directory.string(),
                        .mount = &mount});
  };
  if (config.namespaces.contains(NamespaceKind::kUser)) {
    for (const linux::Device& device : config.devices) add_device(device);
    for (const linux::Device& device : linux::default_devices()) add_device(device);
  }
  for (const linux::Mount& mount : config.mounts)
    if (mount.bind && !mount.remount)
      mounts.push_back({.kind = Kind::kBind,
                        .name = clean(mount.destination),
                        .source = mount.source,
                        .mount = &mount});
    else if (mount.is_of_cgroups() && !mount.remount &&
             !config.namespaces.creates(NamespaceKind::kCgroup))
      add_cgroups(mount);
  for (const RootfsPath& path : config.masked_paths)
    mounts.push_back(
        {.kind = Kind::kMask, .name = clean(path), .source = linux::dev_path("null").string()});
  return mounts;
}

Result<std::vector<std::string>> words_of_mounts_for_dump(std::span<const OutsideMount> mounts,
                                                          const linux::SafeDir& root) {
  std::vector<std::string> words;
  for (const OutsideMount& mount : mounts) {
    const auto found = root.open(RootfsPath(mount.name), O_PATH);
    if (!found) continue;  // the container has unmounted or never had it
    TRY_ASSIGN(const struct stat status, linux::sys::fstat(*found));
    const bool is_masked = mount.kind == OutsideMount::Kind::kMask;
    if (is_masked && S_ISDIR(status.st_mode)) continue;  // covered by a tmpfs, which CRIU saves
    TRY_ASSIGN(const std::string path, linux::host_path_of(*found));
    words.push_back(fmt::format("external-mount={}\n{}", path, mount.name));
  }
  return words;
}

std::vector<std::string> words_of_mounts_for_restore(std::span<const OutsideMount> mounts,
                                                     std::string_view prepared) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const std::string source =
        prepared.empty() ? without_links(mounts[i].source) : fmt::format("{}/{}", prepared, i);
    words.push_back(fmt::format("external-mount={}\n{}", mounts[i].name, source));
  }
  return words;
}

Result<void> make_mount_points(const bundle::Config& config) {
  TRY_ASSIGN(const linux::SafeDir root, linux::SafeDir::open_root(config.root_path));
  std::vector<std::string> covered;
  for (std::size_t index = 0; index < config.mounts.size(); ++index) {
    const linux::Mount& mount = config.mounts[index];
    const std::string path = clean(mount.destination);
    const bool is_inside = std::ranges::any_of(
        covered, [&](const std::string& above) { return linux::is_at_or_below(path, above); });
    covered.push_back(path);
    if (is_inside || path == "/" || mount.remount) continue;
    bool is_directory = !mount.bind;
    if (mount.bind) {
      TRY_ASSIGN(const UniqueFd source, within(linux::sys::open(mount.source.c_str(), O_PATH),
                                               fmt::format("/mounts/{}", index)));
      TRY_ASSIGN(const struct stat status, linux::sys::fstat(source));
      is_directory = S_ISDIR(status.st_mode);
    }
    const auto made =
        is_directory ? root.make_directories(RootfsPath(path)) : root.make_file(RootfsPath(path));
    if (!made)
      return within(Result<void>(std::unexpected(made.error())),
                    fmt::format("/mounts/{}: make the mount point {}", index, path));
  }
  return {};
}

}  // namespace ocirun::runtime
