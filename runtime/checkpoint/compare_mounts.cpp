#include "runtime/checkpoint/compare_mounts.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/pipe.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/bind_source.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/mounts/mount_point.hpp"
#include "linux/process/clone.hpp"
#include "runtime/checkpoint/compare.hpp"
#include "runtime/checkpoint/mount_table.hpp"

namespace ocirun::runtime {
namespace {

using Kind = MountPlace::Kind;

constexpr std::uint32_t kOverflow = 65'534;  // the id that the kernel shows for an unmapped one
constexpr std::uint64_t kCompared = ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC;
static_assert(ST_RDONLY == MOUNT_ATTR_RDONLY && ST_NOSUID == MOUNT_ATTR_NOSUID &&
              ST_NODEV == MOUNT_ATTR_NODEV && ST_NOEXEC == MOUNT_ATTR_NOEXEC);

std::string clean(const RootfsPath& path) { return linux::clean_path(path.string()); }

std::string names_of(std::uint64_t flags) {
  std::vector<std::string_view> names;
  if ((flags & ST_RDONLY) != 0) names.emplace_back("ro");
  if ((flags & ST_NOSUID) != 0) names.emplace_back("nosuid");
  if ((flags & ST_NODEV) != 0) names.emplace_back("nodev");
  if ((flags & ST_NOEXEC) != 0) names.emplace_back("noexec");
  return fmt::format("{}", fmt::join(names, ", "));
}

// A masked file is the null device, a masked directory a read-only tmpfs.
Result<bool> is_covered(Fd file) {
  TRY_ASSIGN(const struct stat status, linux::sys::fstat(file));
  if (!S_ISDIR(status.st_mode)) return linux::verify_null(file).has_value();
  TRY_ASSIGN(const auto filesystem, linux::sys::fstatfs(file));
  return filesystem.magic == TMPFS_MAGIC && (filesystem.flags & ST_RDONLY) != 0;
}

/// What the comparison needs from outside of the container's mount namespace.
struct Host {
  UniqueFd mount_namespace;
  UniqueFd rootfs;
  std::vector<UniqueFd> sources;  // of the document's mounts; empty for those that have none
};

Result<Host> open_host(const bundle::Config& config, const linux::Procfs& procfs, int init) {
  Host host;
  TRY_ASSIGN(host.mount_namespace,
             linux::sys::openat(procfs.fd(), fmt::format("{}/ns/mnt", init).c_str(), O_RDONLY));
  TRY_ASSIGN(host.rootfs, linux::sys::open(config.root_path.c_str(), O_PATH | O_DIRECTORY));
  host.sources.resize(config.mounts.size());
  for (std::size_t index = 0; index < config.mounts.size(); ++index) {
    const linux::Mount& mount = config.mounts[index];
    if (!mount.bind || mount.remount) continue;
    auto source = linux::open_bind_source(procfs, mount);
    if (!source)
      return within(Result<Host>(std::unexpected(source.error())),
                    fmt::format("/mounts/{}", index));
    host.sources[index] = *std::move(source);
  }
  return host;
}

/// The comparison, in a process that is in the container's mount namespace, with its root.
class Comparison {
 public:
  Comparison(const bundle::Config& config, const linux::Procfs& procfs, const Host& host,
             linux::SafeDir root, const std::string& cgroup)
      : config_(config), procfs_(procfs), host_(host), root_(std::move(root)), cgroup_(cgroup) {}

  Result<void> run(std::span<const int> pids) {
    TRY(compare_roots(pids));
    for (const RootfsPath& path : config_.masked_paths) TRY(check_masked(path));
    for (const RootfsPath& path : config_.readonly_paths)
      TRY(check_read_only(path, "/linux/readonlyPaths"));
    if (config_.root_readonly) TRY(check_read_only(RootfsPath("/"), "/root/readonly"));
    if (has_in_bounding_set(config_, CAP_SYS_ADMIN)) return {};  // it may have changed the others
    TRY_ASSIGN(table_, procfs_.read("self/mountinfo"));
    for (std::size_t index = 0; index < config_.mounts.size(); ++index)
      TRY(within(compare_mount(index), fmt::format("/mounts/{}", index)));
    TRY(add_other_places());
    TRY_ASSIGN(const auto below, compare_mount_table(places_, table_));
    for (const std::string& point : below) TRY(compare_below(point));
    return {};
  }

 private:
  struct Found {
    UniqueFd file;
    std::string path;         // without symlinks
    std::uint64_t mount = 0;  // the id in the mount table
    bool is_mounted = false;  // on this very path
  };

  // Nothing where the path does not exist.
  Result<std::optional<Found>> find(const RootfsPath& path) const {
    Found found;
    auto file = root_.open(path, O_PATH);
    if (is_missing(file)) return std::nullopt;
    if (!file) return std::unexpected(std::move(file).error());
    found.file = *std::move(file);
    TRY_ASSIGN(found.path, procfs_.path_of(found.file));
    TRY_ASSIGN(const std::string info,
               procfs_.read(fmt::format("self/fdinfo/{}", found.file.get())));
    for (std::string_view line : linux::words(info, '\n'))
      if (linux::cut(line, ':') == "mnt_id") {
        while (line.starts_with('\t') || line.starts_with(' ')) line.remove_prefix(1);
        found.mount = linux::number(line).value_or(0);
      }
    for (std::string_view rest = table_; const auto entry = linux::next_mount(rest);)
      if (entry->id == found.mount && linux::unescape_path(entry->mount_point) == found.path)
        found.is_mounted = true;
    return found;
  }

  Result<void> compare_roots(std::span<const int> pids) const {
    const bool mounts_root = std::ranges::any_of(
        config_.mounts, [](const linux::Mount& mount) { return clean(mount.destination) == "/"; });
    TRY_ASSIGN(const bool is_ours, linux::sys::is_same_file(root_.fd(), host_.rootfs));
    if (!is_ours && !mounts_root)
      return refuse("the root of the mount namespace is not /root/path of config.json");
    if (has_in_bounding_set(config_, CAP_SYS_CHROOT)) return {};
    TRY_ASSIGN(const std::uint64_t mount, linux::sys::mount_id(root_.fd()));
    for (const int pid : pids) {
      TRY_ASSIGN(const UniqueFd top,
                 linux::sys::openat(procfs_.fd(), fmt::format("{}/root", pid).c_str(),
                                    O_PATH | O_DIRECTORY));
      TRY_ASSIGN(const bool is_same, linux::sys::is_same_file(top, root_.fd()));
      TRY_ASSIGN(const std::uint64_t its_mount, linux::sys::mount_id(top));
      if (!is_same || its_mount != mount)
        return refuse(
            "process {}: has another root directory than the container, which a process without "
            "CAP_SYS_CHROOT cannot choose",
            pid);
    }
    return {};
  }

  Result<void> check_masked(const RootfsPath& path) const {
    const auto found = root_.open(path, O_PATH);
    if (is_missing(found)) return {};  // create skips it too
    if (!found) return std::unexpected(found.error());
    TRY_ASSIGN(const bool covered, is_covered(*found));
    if (covered) return {};
    return refuse("{} is not masked: /linux/maskedPaths of config.json names it", path.string());
  }

  Result<void> check_read_only(const RootfsPath& path, std::string_view field) const {
    const auto found = root_.open(path, O_PATH);
    if (is_missing(found)) return {};
    if (!found) return std::unexpected(found.error());
    TRY_ASSIGN(const auto filesystem, linux::sys::fstatfs(*found));
    if ((filesystem.flags & ST_RDONLY) != 0) return {};
    return refuse("{} can be written to: {} of config.json makes it read-only", path.string(),
                  field);
  }

  // Whether a later mount of the document hides that one.
  bool is_hidden(std::size_t index) const {
    const std::string path = clean(config_.mounts[index].destination);
    return std::ranges::any_of(
        std::span(config_.mounts).subspan(index + 1), [&](const linux::Mount& later) {
          return !later.remount && lies_below(path, clean(later.destination));
        });
  }

  // A remount changes the attributes of the mount before it.
  std::uint64_t flags_of(std::size_t index) const {
    const std::string path = clean(config_.mounts[index].destination);
    std::uint64_t flags = 0;
    for (const linux::Mount& mount : std::span(config_.mounts).subspan(index)) {
      if (clean(mount.destination) != path) continue;
      flags &= ~(mount.attributes.clear | mount.recursive_attributes.clear);
      flags |= mount.attributes.set | mount.recursive_attributes.set;
    }
    return flags & kCompared;
  }

  Result<void> compare_mount(std::size_t index) {
    const linux::Mount& mount = config_.mounts[index];
    const std::string path = clean(mount.destination);
    if (mount.remount || path == "/") return {};
    if (is_hidden(index)) {
      if (mount.bind) return refuse("a later mount hides {}, so it cannot be compared", path);
      places_.push_back(
          {.kind = kind_of(mount), .point = path, .type = mount.type, .cgroup = cgroup_});
      return {};
    }
    TRY_ASSIGN(const std::optional<Found> found, find(mount.destination));
    if (!found || !found->is_mounted) return refuse("nothing is mounted on {}", path);
    places_.push_back({.kind = kind_of(mount),
                       .point = found->path,
                       .type = mount.type,
                       .cgroup = cgroup_,
                       .visible = found->mount});
    // A mask on the mount itself was compared before.
    if (std::ranges::find(config_.masked_paths, path, clean) != config_.masked_paths.end())
      return {};
    if (mount.bind) {
      TRY_ASSIGN(const bool is_same, linux::sys::is_same_file(found->file, host_.sources[index]));
      if (!is_same) return refuse("{} is not {}", path, mount.source);
      TRY(compare_id_map(*found, index));
    }
    TRY_ASSIGN(const auto filesystem, linux::sys::fstatfs(found->file));
    const std::uint64_t lacking = flags_of(index) & ~filesystem.flags;
    if (lacking == 0) return {};
    return refuse("{} lacks {}", path, names_of(lacking));
  }

  // Every mapping that ocirun gives CRIU is that of config.json, but images choose which prepared
  // mount they bind.
  Result<void> compare_id_map(const Found& found, std::size_t index) const {
    const linux::Mount& mount = config_.mounts[index];
    const std::string path = clean(mount.destination);
    bool is_id_mapped = false;
    for (std::string_view rest = table_; const auto entry = linux::next_mount(rest);)
      if (entry->id == found.mount)
        is_id_mapped =
            fmt::format(",{},", entry->attributes).find(",idmapped,") != std::string::npos;
    if (is_id_mapped != (mount.id_map_kind != linux::IdMapKind::kNone))
      return refuse("{} is {}id-mapped", path, is_id_mapped ? "" : "not ");
    if (!is_id_mapped) return {};
    const linux::IdMap& map = mount.id_map.empty() ? config_.id_map : mount.id_map;
    TRY_ASSIGN(const struct stat shown, linux::sys::fstat(found.file));
    TRY_ASSIGN(const struct stat stored, linux::sys::fstat(host_.sources[index]));
    const auto uid = Uid::make(stored.st_uid);
    const auto gid = Gid::make(stored.st_gid);
    const bool is_ours = uid && gid && map.host_uid(*uid).value_or(kOverflow) == shown.st_uid &&
                         map.host_gid(*gid).value_or(kOverflow) == shown.st_gid;
    return is_ours ? Result<void>{} : refuse("{} has another id map", path);
  }

  static Kind kind_of(const linux::Mount& mount) {
    if (mount.bind) return mount.recursive ? Kind::kTree : Kind::kCompared;
    if (mount.type == "cgroup" || mount.type == "cgroup2") return Kind::kCgroup;
    return mount.source.starts_with('/') ? Kind::kDevice : Kind::kFilesystem;
  }

  // Masks, read-only paths, the console and nodes that could not be made by mknod.
  Result<void> add_other_places() {
    for (const RootfsPath& path : config_.masked_paths) TRY(add_place(Kind::kCompared, path));
    for (const RootfsPath& path : config_.readonly_paths) TRY(add_place(Kind::kReadOnly, path));
    for (const linux::Device& device : config_.devices) TRY(add_device(device));
    for (const linux::Device& device : linux::default_devices()) TRY(add_device(device));
    if (config_.process && config_.process->terminal) {
      TRY_ASSIGN(const auto found, find(linux::dev_path("console")));
      if (found) {
        TRY_ASSIGN(const auto filesystem, linux::sys::fstatfs(found->file));
        if (filesystem.magic == DEVPTS_SUPER_MAGIC)
          places_.push_back(
              {.kind = Kind::kCompared, .point = found->path, .visible = found->mount});
      }
    }
    return {};
  }

  Result<void> add_place(Kind kind, const RootfsPath& path) {
    TRY_ASSIGN(const auto found, find(path));
    if (found) places_.push_back({.kind = kind, .point = found->path, .visible = found->mount});
    return {};
  }

  Result<void> add_device(const linux::Device& device) {
    TRY_ASSIGN(const auto found, find(device.path));
    if (!found) return {};
    TRY_ASSIGN(const struct stat status, linux::sys::fstat(found->file));
    const bool is_node = device.kind == linux::Device::Kind::kBlock ? S_ISBLK(status.st_mode)
                                                                    : S_ISCHR(status.st_mode);
    if (is_node && std::int64_t{major(status.st_rdev)} == device.major &&
        std::int64_t{minor(status.st_rdev)} == device.minor)
      places_.push_back({.kind = Kind::kCompared, .point = found->path, .visible = found->mount});
    return {};
  }

  // A mount below a recursive bind is one of the host, below the source.
  Result<void> compare_below(const std::string& point) const {
    TRY_ASSIGN(const auto found, find(RootfsPath(point)));
    for (std::size_t index = 0; index < config_.mounts.size(); ++index) {
      const linux::Mount& mount = config_.mounts[index];
      if (!host_.sources[index] || !mount.recursive || !found) continue;
      TRY_ASSIGN(const auto top, find(mount.destination));
      if (!top || !lies_below(found->path, top->path)) continue;
      const auto source = linux::sys::openat(
          host_.sources[index], found->path.substr(top->path.size() + 1).c_str(), O_PATH);
      if (!source) continue;
      TRY_ASSIGN(const bool is_same, linux::sys::is_same_file(found->file, *source));
      if (is_same) return {};
    }
    return refuse("what is mounted on {} is not mounted below the source of a recursive bind",
                  point);
  }

  const bundle::Config& config_;
  const linux::Procfs& procfs_;
  const Host& host_;
  linux::SafeDir root_;
  const std::string& cgroup_;
  std::string table_;
  std::vector<MountPlace> places_;
};

Result<void> compare_inside(const bundle::Config& config, const linux::Procfs& procfs,
                            const Host& host, std::span<const int> pids,
                            const std::string& cgroup) {
  if (::setns(host.mount_namespace.get(), CLONE_NEWNS) != 0)
    return fail(errno, "enter the container's mount namespace");
  TRY_ASSIGN(UniqueFd root, linux::sys::open("/", O_PATH | O_DIRECTORY));
  return Comparison(config, procfs, host, linux::SafeDir(std::move(root)), cgroup).run(pids);
}

}  // namespace

Result<void> compare_mounts(const bundle::Config& config, const linux::Procfs& procfs, int init,
                            std::span<const int> pids, const std::string& cgroup) {
  constexpr std::size_t kMaxText = 64 * 1024;
  TRY_ASSIGN(const Host host, open_host(config, procfs, init));
  TRY_ASSIGN(linux::Pipe answer, linux::make_pipe());
  TRY_ASSIGN(const linux::Child child, linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto compared = compare_inside(config, procfs, host, pids, cgroup);
    if (compared) ::_exit(0);
    const std::string text = compared.error().message();
    [[maybe_unused]] const auto told =
        ::write(answer.writer.get(), text.data(), std::min(text.size(), kMaxText));
    ::_exit(1);
  }
  answer.writer.reset();
  const auto text = linux::sys::read_all(answer.reader, kMaxText);
  TRY_ASSIGN(const int status, linux::wait_for_child(child.pid));
  TRY(text);
  if (!text->empty()) return refuse("{}", *text);
  if (status == 0) return {};
  return refuse("the process that compares the mounts {}", linux::describe_end(status));
}

}  // namespace ocirun::runtime
