#include "linux/mounts/mount_point.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/magic.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "linux/base/syscalls.hpp"

namespace ocirun::linux {
namespace {

constexpr std::uint64_t kProcRootInode = 1;

/// The files of the container's procfs that a bind may cover (M-9): the files that lxcfs emulates,
/// and two files below sys.
constexpr std::array<std::string_view, 10> kBindableProcFiles = {"cpuinfo",
                                                                 "diskstats",
                                                                 "loadavg",
                                                                 "meminfo",
                                                                 "slabinfo",
                                                                 "stat",
                                                                 "swaps",
                                                                 "sys/crypto/fips_enabled",
                                                                 "sys/kernel/ns_last_pid",
                                                                 "uptime"};

bool is_kernel_filesystem(const Mount& mount) {
  return !mount.bind && (mount.type == "proc" || mount.type == "sysfs");
}

Result<bool> is_on_procfs(Fd fd) {
  OCIRUN_TRY_ASSIGN(const sys::FilesystemInfo filesystem, sys::fstatfs(fd));
  return filesystem.magic == PROC_SUPER_MAGIC;
}

Result<bool> is_procfs_root(Fd fd) {
  OCIRUN_TRY_ASSIGN(const bool on_procfs, is_on_procfs(fd));
  if (!on_procfs) return false;
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(fd));
  return info.st_ino == kProcRootInode;
}

/// The path of `target` below `root`, from the kernel, with all symlinks resolved.
Result<std::string> resolved_path(const SafeDir& root, const Procfs& procfs, Fd target) {
  OCIRUN_TRY_ASSIGN(const std::string top, procfs.path_of(root.fd()));
  OCIRUN_TRY_ASSIGN(std::string path, procfs.path_of(target));
  if (top != "/" && path.starts_with(top)) path.erase(0, top.size());
  return path;
}

/// Checks a mount on or below /proc. `name` is the path of the mount point below /proc, "" for
/// /proc itself.
Result<void> check_inside_proc(const Mount& mount, std::string_view name, Fd source) {
  if (name.empty()) {
    if (!mount.bind && mount.type == "proc") return {};
    if (mount.bind) {
      OCIRUN_TRY_ASSIGN(const bool procfs, is_procfs_root(source));
      if (procfs) return {};
    }
    return refuse("only a procfs can be mounted there: type \"proc\", or a bind mount of one");
  }
  if (mount.bind && std::ranges::find(kBindableProcFiles, name) != kBindableProcFiles.end())
    return {};
  return refuse("it is inside proc, where only bind mounts on these files are allowed: {}",
                fmt::join(kBindableProcFiles, ", "));
}

/// M-9: a mount in /proc could fake files that the runtime or a tool trusts (runc CVE-2019-16884).
/// Checks the text of the path and, because symlinks may lead into /proc, also the path that the
/// kernel reports.
Result<void> check_proc_policy(const SafeDir& root, const Procfs& procfs, const Mount& mount,
                               Fd target, Fd source) {
  const std::string path = clean_path(mount.destination.string());
  if (const auto name = name_in_proc(path)) return check_inside_proc(mount, *name, source);
  OCIRUN_TRY_ASSIGN(const bool on_procfs, is_on_procfs(target));
  if (!on_procfs) return {};
  OCIRUN_TRY_ASSIGN(const std::string real, resolved_path(root, procfs, target));
  if (const auto name = name_in_proc(real)) return check_inside_proc(mount, *name, source);
  return {};
}

Result<UniqueFd> open_ordinary_directory(const SafeDir& root, const Mount& mount) {
  const auto refusal = [&mount] {
    return refuse(
        "{:?} must be mounted on ordinary directory: {} is not one, or is reached through a "
        "symlink",
        mount.type, mount.destination.string());
  };
  auto target = root.open(mount.destination, O_PATH | O_DIRECTORY, SafeDir::Symlinks::kRefuse);
  if (!target && target.error().number() == ENOENT) {
    OCIRUN_TRY(root.make_directories(mount.destination));
    target = root.open(mount.destination, O_PATH | O_DIRECTORY, SafeDir::Symlinks::kRefuse);
  }
  if (!target && (target.error().number() == ELOOP || target.error().number() == ENOTDIR))
    return refusal();
  return target;
}

Result<UniqueFd> make_target(const SafeDir& root, const Mount& mount, Fd source) {
  if (source.value < 0) return root.make_directories(mount.destination);
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(source));
  return S_ISDIR(info.st_mode) ? root.make_directories(mount.destination)
                               : root.make_file(mount.destination);
}

/// Opens the destination, or makes it and sets `created`.
Result<UniqueFd> open_or_make_target(const SafeDir& root, const Mount& mount, Fd source,
                                     bool& created) {
  if (is_kernel_filesystem(mount)) return open_ordinary_directory(root, mount);
  auto target = root.open(mount.destination, O_PATH);
  if (target || target.error().number() != ENOENT) return target;
  created = true;
  return make_target(root, mount, source);
}

}  // namespace

Result<MountPoint> open_mount_point(const SafeDir& root, const Procfs& procfs, const Mount& mount,
                                    Fd source) {
  MountPoint point{root, procfs, mount.destination, UniqueFd(), false};
  OCIRUN_TRY_ASSIGN(point.target, within(open_or_make_target(root, mount, source, point.created),
                                         "the destination"));
  OCIRUN_TRY(check_proc_policy(root, procfs, mount, point.target, source));
  return point;
}

std::string clean_path(const std::string& path) {
  std::string clean;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part(path.data() + begin, end - begin);
    if (part == "..") {
      clean.erase(std::min(clean.rfind('/'), clean.size()));
    } else if (!part.empty() && part != ".") {
      clean.append("/").append(part);
    }
    begin = end + 1;
  }
  return clean.empty() ? "/" : clean;
}

std::string clean(const RootfsPath& path) { return clean_path(path.string()); }

bool is_at_or_below(std::string_view path, std::string_view directory) {
  if (directory == "/") return true;
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

bool is_below(std::string_view path, std::string_view directory) {
  return path != directory && is_at_or_below(path, directory);
}

bool mount_covers(const std::string& destination, const std::string& path) {
  return is_at_or_below(clean_path(path), clean_path(destination));
}

}  // namespace ocirun::linux
