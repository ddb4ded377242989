#include "criu/compare/mounts.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "criu/compare/binds.hpp"
#include "criu/compare/container_namespaces.hpp"
#include "criu/compare/container_root.hpp"
#include "criu/compare/host_mounts.hpp"
#include "criu/compare/mount_table.hpp"
#include "criu/compare/thread.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

using Kind = MountPlace::Kind;

using linux::clean;

// A masked file shows the null device. A masked directory shows a read-only tmpfs.
Result<bool> is_covered(Fd file) {
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(file));
  if (!S_ISDIR(status.st_mode)) return linux::verify_null(file).has_value();
  OCIRUN_TRY_ASSIGN(const auto filesystem, linux::sys::fstatfs(file));
  return filesystem.magic == TMPFS_MAGIC && (filesystem.flags & ST_RDONLY) != 0;
}

ShownExpectation expected_of(const MountExpectation& wanted, const HostFiles& host) {
  return {.config = wanted.config, .host = host.mounts, .cgroup = wanted.cgroup};
}

/// The comparison. Runs in a process that has entered the container's mount namespace.
class Comparison {
 public:
  Comparison(const MountExpectation& wanted, const HostFiles& host, const ContainerRoot& root)
      : wanted_(wanted),
        host_(host),
        root_(root),
        binds_{.config = wanted.config,
               .sources = host.sources,
               .images = wanted.images,
               .root = root,
               .host = host.mounts,
               .procfs = wanted.procfs} {}

  Result<void> run() {
    OCIRUN_TRY(compare_roots());
    for (const RootfsPath& path : wanted_.config.masked_paths) OCIRUN_TRY(check_masked(path));
    for (const RootfsPath& path : wanted_.config.readonly_paths)
      OCIRUN_TRY(check_read_only(path, "/linux/readonlyPaths"));
    if (wanted_.config.root_readonly)
      OCIRUN_TRY(check_read_only(RootfsPath("/"), "/root/readonly"));
    OCIRUN_TRY(compare_shown(expected_of(wanted_, host_), root_.table()));
    if (has_in_bounding_set(wanted_.config, CAP_SYS_ADMIN))
      return {};  // the container may have changed its other mounts
    for (std::size_t index = 0; index < wanted_.config.mounts.size(); ++index)
      OCIRUN_TRY(within(compare_mount(index), "/mounts/{}", index));
    OCIRUN_TRY(add_other_places());
    OCIRUN_TRY_ASSIGN(const auto below, compare_mount_table(places_, root_.table()));
    for (const std::string& point : below) OCIRUN_TRY(binds_.compare_below(point));
    return {};
  }

 private:
  Result<void> compare_roots() const {
    const bool mounts_root = std::ranges::any_of(
        wanted_.config.mounts,
        [](const linux::Mount& mount) { return clean(mount.destination) == "/"; });
    OCIRUN_TRY_ASSIGN(const bool is_ours,
                      linux::sys::is_same_file(root_.directory().fd(), host_.rootfs));
    if (!is_ours && !mounts_root)
      return refuse("the root of the mount namespace is not /root/path of config.json");
    if (has_in_bounding_set(wanted_.config, CAP_SYS_CHROOT)) return {};
    OCIRUN_TRY_ASSIGN(const std::uint64_t mount, linux::sys::mount_id(root_.directory().fd()));
    for (const int pid : wanted_.pids) {
      OCIRUN_TRY_ASSIGN(const UniqueFd top,
                        linux::sys::openat(wanted_.procfs.fd(), fmt::format("{}/root", pid).c_str(),
                                           O_PATH | O_DIRECTORY));
      OCIRUN_TRY_ASSIGN(const bool is_same, linux::sys::is_same_file(top, root_.directory().fd()));
      OCIRUN_TRY_ASSIGN(const std::uint64_t its_mount, linux::sys::mount_id(top));
      if (!is_same || its_mount != mount)
        return refuse(
            "process {}: has another root directory than the container, which a process without "
            "CAP_SYS_CHROOT cannot choose",
            pid);
    }
    return {};
  }

  Result<void> check_masked(const RootfsPath& path) const {
    const auto found = root_.directory().open(path, O_PATH);
    if (is_missing(found)) return {};  // `create` skips a missing path too
    if (!found) return std::unexpected(found.error());
    OCIRUN_TRY_ASSIGN(const bool covered, is_covered(*found));
    if (covered) return {};
    return refuse("{} is not masked: /linux/maskedPaths of config.json names it", path.string());
  }

  Result<void> check_read_only(const RootfsPath& path, std::string_view field) const {
    const auto found = root_.directory().open(path, O_PATH);
    if (is_missing(found)) return {};
    if (!found) return std::unexpected(found.error());
    OCIRUN_TRY_ASSIGN(const auto filesystem, linux::sys::fstatfs(*found));
    if ((filesystem.flags & ST_RDONLY) != 0) return {};
    return refuse("{} can be written to: {} of config.json makes it read-only", path.string(),
                  field);
  }

  // Whether a later mount of config.json hides the mount with this index.
  bool is_hidden(std::size_t index) const {
    const std::string path = clean(wanted_.config.mounts[index].destination);
    return std::ranges::any_of(
        std::span(wanted_.config.mounts).subspan(index + 1), [&](const linux::Mount& later) {
          return !later.remount && linux::is_at_or_below(path, clean(later.destination));
        });
  }

  // The attributes after all later entries for the same destination, because a remount changes the
  // attributes.
  std::uint64_t flags_of(std::size_t index) const {
    const std::string path = clean(wanted_.config.mounts[index].destination);
    std::uint64_t flags = 0;
    for (const linux::Mount& mount : std::span(wanted_.config.mounts).subspan(index)) {
      if (clean(mount.destination) != path) continue;
      flags &= ~(mount.attributes.clear | mount.recursive_attributes.clear);
      flags |= mount.attributes.set | mount.recursive_attributes.set;
    }
    return flags & kComparedFlags;
  }

  Result<void> compare_mount(std::size_t index) {
    const linux::Mount& mount = wanted_.config.mounts[index];
    const std::string path = clean(mount.destination);
    if (mount.remount || path == "/") return {};
    if (is_hidden(index)) {
      if (mount.bind) return refuse("a later mount hides {}, so it cannot be compared", path);
      places_.push_back(
          {.kind = kind_of(mount), .point = path, .type = mount.type, .cgroup = wanted_.cgroup});
      return {};
    }
    OCIRUN_TRY_ASSIGN(const std::optional<FoundFile> found, root_.find(mount.destination));
    if (!found || !found->is_mounted) return refuse("nothing is mounted on {}", path);
    places_.push_back({.kind = kind_of(mount),
                       .point = found->path,
                       .type = mount.type,
                       .cgroup = wanted_.cgroup,
                       .visible = found->mount});
    // A masked path on the destination itself hides the mount. check_masked() has compared the
    // mask.
    if (std::ranges::find(wanted_.config.masked_paths, path, clean) !=
        wanted_.config.masked_paths.end())
      return {};
    if (mount.bind) {
      OCIRUN_TRY(binds_.compare(*found, index));
    }
    if (mount.is_of_cgroups()) OCIRUN_TRY(compare_hierarchies(found->path, flags_of(index)));
    return check_mount_flags(found->file, flags_of(index), path);
  }

  // If the mount on `top` is a tmpfs, each hierarchy is a mount below `top`.
  Result<void> compare_hierarchies(const std::string& top, std::uint64_t flags) const {
    std::string_view rest = root_.table();
    while (const auto entry = linux::next_mount(rest)) {
      const std::string point = linux::unescape_path(entry->mount_point);
      if (point == top || !linux::is_at_or_below(point, top)) continue;
      OCIRUN_TRY_ASSIGN(const auto found, root_.find(RootfsPath(point)));
      if (found) OCIRUN_TRY(check_mount_flags(found->file, flags, point));
    }
    return {};
  }

  static Kind kind_of(const linux::Mount& mount) {
    if (mount.bind) return mount.recursive ? Kind::kTree : Kind::kCompared;
    if (mount.is_of_cgroups()) return Kind::kCgroup;
    return mount.source.starts_with('/') ? Kind::kDevice : Kind::kFilesystem;
  }

  // Adds the masks, the read-only paths, the console, and device nodes, which are binds where
  // mknod(2) is not possible.
  Result<void> add_other_places() {
    for (const RootfsPath& path : wanted_.config.masked_paths)
      OCIRUN_TRY(add_place(Kind::kCompared, path));
    for (const RootfsPath& path : wanted_.config.readonly_paths)
      OCIRUN_TRY(add_place(Kind::kReadOnly, path));
    for (const linux::Device& device : wanted_.config.devices) OCIRUN_TRY(add_device(device));
    for (const linux::Device& device : linux::default_devices()) OCIRUN_TRY(add_device(device));
    if (wanted_.config.process && wanted_.config.process->terminal) {
      OCIRUN_TRY_ASSIGN(const auto found, root_.find(linux::dev_path("console")));
      if (found) {
        OCIRUN_TRY_ASSIGN(const auto filesystem, linux::sys::fstatfs(found->file));
        if (filesystem.magic == DEVPTS_SUPER_MAGIC)
          places_.push_back(
              {.kind = Kind::kCompared, .point = found->path, .visible = found->mount});
      }
    }
    return {};
  }

  Result<void> add_place(Kind kind, const RootfsPath& path) {
    OCIRUN_TRY_ASSIGN(const auto found, root_.find(path));
    if (found) places_.push_back({.kind = kind, .point = found->path, .visible = found->mount});
    return {};
  }

  Result<void> add_device(const linux::Device& device) {
    OCIRUN_TRY_ASSIGN(const auto found, root_.find(device.path));
    if (!found) return {};
    OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(found->file));
    const bool is_node = device.kind == linux::Device::Kind::kBlock ? S_ISBLK(status.st_mode)
                                                                    : S_ISCHR(status.st_mode);
    if (is_node && std::int64_t{major(status.st_rdev)} == device.major &&
        std::int64_t{minor(status.st_rdev)} == device.minor)
      places_.push_back({.kind = Kind::kCompared, .point = found->path, .visible = found->mount});
    return {};
  }

  const MountExpectation& wanted_;
  const HostFiles& host_;
  const ContainerRoot& root_;
  BindComparison binds_;
  std::vector<MountPlace> places_;
};

// Calls `compare` in a child that has entered the mount namespace of `pid`.
template <typename Compare>
Result<void> inside(const MountExpectation& wanted, int pid, Compare compare) {
  OCIRUN_TRY_ASSIGN(const UniqueFd mount_namespace,
                    linux::open_namespace(wanted.procfs.fd(), pid, linux::NamespaceKind::kMount));
  return in_child("compare the mounts", [&]() -> Result<void> {
    OCIRUN_TRY(enter_container_namespace(mount_namespace, linux::NamespaceKind::kMount));
    OCIRUN_TRY_ASSIGN(const ContainerRoot root, ContainerRoot::open(wanted.procfs));
    return compare(root);
  });
}

}  // namespace

Result<void> compare_mounts(const MountExpectation& wanted) {
  OCIRUN_TRY_ASSIGN(const HostFiles host, open_host_files(wanted.config, wanted.procfs));
  OCIRUN_TRY(inside(wanted, wanted.init, [&](const ContainerRoot& root) {
    return Comparison(wanted, host, root).run();
  }));
  for (const int pid : wanted.nested) {
    OCIRUN_TRY(within(inside(wanted, pid,
                             [&](const ContainerRoot& root) {
                               return compare_shown(expected_of(wanted, host), root.table());
                             }),
                      "process {}", pid));
  }
  return {};
}

}  // namespace ocirun::runtime
