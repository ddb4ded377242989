#include "criu/request/read_only_host.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

using linux::is_below;
using linux::Recursion;

constexpr char kTemporary[] = "/tmp";

/// A file, and its path without symlinks.
struct RealFile {
  UniqueFd fd;
  std::string path;
};

Result<RealFile> open_real(const std::string& path) {
  OCIRUN_TRY_ASSIGN(UniqueFd fd, linux::sys::open(path.c_str(), O_PATH));
  OCIRUN_TRY_ASSIGN(std::string real, linux::host_path_of(fd));
  return RealFile{.fd = std::move(fd), .path = std::move(real)};
}

// Whether `path` has neither symlinks nor "..". `real` is the same path without symlinks.
bool is_plain(const std::string& path, const std::string& real) {
  return linux::clean_path(path) == real && !path.contains("/..");
}

// The writable mounts of procfs and sysfs. A mount that another mount covers is left out.
Result<std::vector<UniqueFd>> writable_kernel_mounts(const linux::Procfs& procfs) {
  OCIRUN_TRY_ASSIGN(const std::string table, linux::read_mountinfo(procfs));
  std::vector<UniqueFd> mounts;
  for (std::string_view rest = table; const auto entry = linux::next_mount(rest);) {
    const bool is_kernels = entry->type == "proc" || entry->type == "sysfs";
    if (!is_kernels || entry->attributes.starts_with("ro")) continue;
    auto mount =
        linux::sys::open(linux::unescape_path(entry->mount_point).c_str(), O_PATH | O_NOFOLLOW);
    if (!mount) continue;
    OCIRUN_TRY_ASSIGN(const std::uint64_t id, linux::mount_of(procfs, *mount));
    if (id == entry->id) mounts.push_back(*std::move(mount));
  }
  return mounts;
}

}  // namespace

bool can_make_host_read_only() {
  const auto asked = linux::sys::mount_setattr(Fd{-1}, 0, {});
  return asked || asked.error().number() == EBADF;
}

Result<void> ReadOnlyHost::except(const HostPath& path, Recursion recursion) {
  OCIRUN_TRY_ASSIGN(RealFile file, open_real(path.string()));
  OCIRUN_TRY_ASSIGN(linux::DetachedMount mount, linux::DetachedMount::clone_of(file.fd, recursion));
  given_.push_back(path.string());
  trees_.push_back(
      {.path = std::move(file.path), .place = std::move(file.fd), .mount = std::move(mount)});
  return {};
}

Result<void> ReadOnlyHost::close(const linux::Procfs& procfs, std::span<const std::string> needed) {
  OCIRUN_TRY_ASSIGN(const RealFile temporary, open_real(kTemporary));
  given_.insert(given_.end(), needed.begin(), needed.end());
  OCIRUN_TRY_ASSIGN(const bool covers, can_cover(temporary.path));
  if (covers)
    OCIRUN_TRY(add_needed(temporary.path, needed));
  else
    OCIRUN_TRY(except(HostPath(temporary.path), Recursion::kTree));
  OCIRUN_TRY_ASSIGN(const std::vector<UniqueFd> kernels, writable_kernel_mounts(procfs));
  OCIRUN_TRY_ASSIGN(const UniqueFd top, linux::sys::open("/", O_PATH | O_DIRECTORY));
  OCIRUN_TRY(linux::set_mount_attributes(top, {.set = MOUNT_ATTR_RDONLY}, Recursion::kTree));
  for (const UniqueFd& mount : kernels)
    OCIRUN_TRY(linux::set_mount_attributes(mount, {.clear = MOUNT_ATTR_RDONLY}, Recursion::kTop));
  if (covers) OCIRUN_TRY(cover(temporary.fd, temporary.path));
  // A tree is attached before the trees below it.
  std::ranges::sort(trees_, {}, [](const Tree& tree) { return tree.path.size(); });
  for (const Tree& tree : trees_) OCIRUN_TRY(within(attach(tree), tree.path));
  return {};
}

// Whether a tmpfs may cover /tmp. A path that leads through /tmp by a symlink would end in the
// empty tmpfs.
Result<bool> ReadOnlyHost::can_cover(const std::string& temporary) const {
  for (const std::string& path : given_) {
    const auto file = open_real(path);
    if (is_missing(file)) continue;
    if (!file) return std::unexpected(file.error());
    const bool is_involved = linux::is_at_or_below(file->path, temporary) ||
                             linux::is_at_or_below(path, temporary) ||
                             linux::is_at_or_below(path, kTemporary);
    if (is_involved && !(is_plain(path, file->path) && is_below(file->path, temporary)))
      return false;
  }
  return true;
}

Result<void> ReadOnlyHost::add_needed(const std::string& temporary,
                                      std::span<const std::string> needed) {
  for (const std::string& path : needed) {
    const auto file = open_real(path);
    if (!file || !is_below(file->path, temporary)) continue;
    const bool is_there = std::ranges::any_of(
        trees_, [&](const Tree& tree) { return linux::is_at_or_below(file->path, tree.path); });
    if (is_there) continue;
    OCIRUN_TRY(except(HostPath(path), Recursion::kTree));
    OCIRUN_TRY(linux::set_mount_attributes(trees_.back().mount.fd(), {.set = MOUNT_ATTR_RDONLY},
                                           Recursion::kTree));
  }
  return {};
}

// Covers `temporary`, the directory on `path`, with a tmpfs. Makes mount points in the tmpfs for
// the trees below `path`.
Result<void> ReadOnlyHost::cover(Fd temporary, const std::string& path) {
  OCIRUN_TRY_ASSIGN(linux::DetachedMount tmpfs,
                    linux::DetachedMount::of_tmpfs("1777", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  OCIRUN_TRY(tmpfs.attach(temporary));
  const linux::SafeDir top(std::move(tmpfs).release());
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(top.fd()));
  tmpfs_ = status.st_dev;
  for (const Tree& tree : trees_) {
    if (!is_below(tree.path, path)) continue;
    const RootfsPath below(tree.path.substr(path.size()));
    OCIRUN_TRY_ASSIGN(const struct stat its, linux::sys::fstat(tree.place));
    OCIRUN_TRY(S_ISDIR(its.st_mode) ? top.make_directories(below) : top.make_file(below));
  }
  return {};
}

Result<void> ReadOnlyHost::attach(const Tree& tree) const {
  OCIRUN_TRY_ASSIGN(const UniqueFd place, linux::sys::open(tree.path.c_str(), O_PATH | O_NOFOLLOW));
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(place));
  OCIRUN_TRY_ASSIGN(const bool is_same, linux::sys::is_same_file(place, tree.place));
  if (!is_same && status.st_dev != tmpfs_)
    return refuse("was replaced during the restore: try again when nobody changes this path");
  return tree.mount.attach(place);
}

}  // namespace ocirun::runtime
