#include "criu/compare/host_mounts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>

#include "criu/compare/container_root.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/binds.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

using linux::clean;
using linux::NamespaceKind;
using linux::Propagation;
using linux::Recursion;

template <typename Test>
bool any_mount(std::string_view table, Test test) {
  while (const auto entry = linux::next_mount(table))
    if (test(*entry)) return true;
  return false;
}

// The path of a file inside the file system of `entry`. `path` is the host's path of the file, at
// or below the mount point of `entry`.
std::string path_in_filesystem(const linux::MountEntry& entry, const std::string& path) {
  const std::string point = linux::unescape_path(entry.mount_point);
  std::string root = linux::unescape_path(entry.root);
  if (root == "/") root.clear();
  root += point == "/" ? path : path.substr(point.size());
  return root.empty() ? "/" : root;
}

// Returns "12" for "shared:12" or "master:12", and "" for other words. The kernel writes
// "propagate_from:12" only after "master:".
std::string_view peer_group(std::string_view word) {
  const std::string_view kind = linux::cut(word, ':');
  return kind == "shared" || kind == "master" ? word : std::string_view();
}

bool hears(Propagation propagation) {
  return propagation == Propagation::kSlave || propagation == Propagation::kShared;
}

/// Opens the files of the host that config.json names, and allows the mounts of these files.
class Opening {
 public:
  Opening(const bundle::Config& config, const linux::Procfs& procfs, HostFiles& files)
      : config_(config), procfs_(procfs), files_(files) {}

  Result<void> run() {
    OCIRUN_TRY_ASSIGN(files_.rootfs,
                      linux::sys::open(config_.root_path.c_str(), O_PATH | O_DIRECTORY));
    OCIRUN_TRY(files_.mounts.allow(procfs_, files_.rootfs, Recursion::kTree,
                                   events_of(Propagation::kUnchanged)));
    OCIRUN_TRY(allow_nodes());
    files_.sources.resize(config_.mounts.size());
    for (std::size_t index = 0; index < config_.mounts.size(); ++index)
      OCIRUN_TRY(within(open_source(index), "/mounts/{}", index));
    return {};
  }

 private:
  // With a rootfsPropagation of slave or shared, mount events of the host reach all binds.
  MountEvents events_of(Propagation propagation) const {
    return hears(propagation) || hears(config_.rootfs_propagation) ? MountEvents::kFromHost
                                                                   : MountEvents::kPrivate;
  }

  // Allows the device nodes of the host that the container shows: the null device on masked paths
  // and, in a container with a user namespace, the nodes of the devices.
  Result<void> allow_nodes() {
    for (const OutsideMount& outside : outside_mounts(config_, {})) {
      if (outside.kind == OutsideMount::Kind::kBind) continue;
      const auto node = linux::sys::open(outside.source.c_str(), O_PATH);
      if (node)
        OCIRUN_TRY(files_.mounts.allow(procfs_, *node, Recursion::kTop, MountEvents::kPrivate));
    }
    return {};
  }

  Result<void> open_source(std::size_t index) {
    const linux::Mount& mount = config_.mounts[index];
    if (!mount.bind) return allow_disk(mount);
    if (mount.remount) return {};
    OCIRUN_TRY_ASSIGN(files_.sources[index], linux::open_bind_source(procfs_, mount));
    return files_.mounts.allow(procfs_, files_.sources[index],
                               mount.recursive ? Recursion::kTree : Recursion::kTop,
                               events_of(mount.propagation));
  }

  Result<void> allow_disk(const linux::Mount& mount) {
    if (!mount.source.starts_with('/')) return {};
    const auto disk = linux::sys::open(mount.source.c_str(), O_PATH);
    if (!disk) return {};
    OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(*disk));
    if (S_ISBLK(status.st_mode)) files_.mounts.allow_device(status.st_rdev);
    return {};
  }

  const bundle::Config& config_;
  const linux::Procfs& procfs_;
  HostFiles& files_;
};

}  // namespace

Result<HostMounts> HostMounts::read(const linux::Procfs& procfs) {
  OCIRUN_TRY_ASSIGN(std::string table, linux::read_mountinfo(procfs));
  return HostMounts(std::move(table));
}

Result<void> HostMounts::allow(const linux::Procfs& procfs, Fd file, linux::Recursion recursion,
                               MountEvents events) {
  OCIRUN_TRY_ASSIGN(const std::uint64_t mount, linux::mount_of(procfs, file));
  OCIRUN_TRY_ASSIGN(const std::string path, linux::host_path_of(file));
  for (std::string_view rest = table_; const auto entry = linux::next_mount(rest);) {
    const std::string point = linux::unescape_path(entry->mount_point);
    if (entry->id == mount && linux::is_at_or_below(path, point))
      trees_.push_back({.device = std::string(entry->device),
                        .root = path_in_filesystem(*entry, path),
                        .events = events});
    else if (recursion == linux::Recursion::kTree && linux::is_at_or_below(point, path))
      trees_.push_back({.device = std::string(entry->device),
                        .root = linux::unescape_path(entry->root),
                        .events = events});
  }
  return {};
}

void HostMounts::allow_device(dev_t number) {
  trees_.push_back({.device = fmt::format("{}:{}", major(number), minor(number)),
                    .root = "/",
                    .events = MountEvents::kPrivate});
}

bool HostMounts::has(const linux::MountEntry& mount) const {
  return any_mount(table_, [&](const auto& entry) { return entry.device == mount.device; });
}

bool HostMounts::is_id_mapped(std::uint64_t mount) const {
  return any_mount(
      table_, [&](const auto& entry) { return entry.id == mount && runtime::is_id_mapped(entry); });
}

bool HostMounts::is_in_a_tree(const linux::MountEntry& mount, MountEvents wanted) const {
  const std::string root = linux::unescape_path(mount.root);
  return std::ranges::any_of(trees_, [&](const Tree& tree) {
    return tree.device == mount.device && linux::is_at_or_below(root, tree.root) &&
           (wanted == MountEvents::kPrivate || tree.events == wanted);
  });
}

bool HostMounts::allows(const linux::MountEntry& mount) const {
  return is_in_a_tree(mount, MountEvents::kPrivate);
}

bool HostMounts::hears_too_much(const linux::MountEntry& mount) const {
  for (const std::string_view word : linux::words(mount.propagation, ' ')) {
    const std::string_view group = peer_group(word);
    const bool is_hosts = !group.empty() && any_mount(table_, [&](const auto& entry) {
      const auto words = linux::words(entry.propagation, ' ');
      return std::ranges::any_of(words, [&](auto own) { return peer_group(own) == group; });
    });
    if (is_hosts && !is_in_a_tree(mount, MountEvents::kFromHost)) return true;
  }
  return false;
}

Result<HostFiles> open_host_files(const bundle::Config& config, const linux::Procfs& procfs) {
  OCIRUN_TRY_ASSIGN(HostMounts mounts, HostMounts::read(procfs));
  HostFiles files{.rootfs = {}, .sources = {}, .mounts = std::move(mounts)};
  OCIRUN_TRY(Opening(config, procfs, files).run());
  return files;
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

}  // namespace ocirun::runtime
