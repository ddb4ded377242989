#include "runtime/checkpoint/read_only_host.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

using linux::Recursion;

constexpr char kTemporary[] = "/tmp";

bool lies_in_tmp(std::string_view path) { return linux::is_at_or_below(path, kTemporary); }

Result<void> cover_tmp() {
  TRY_ASSIGN(const linux::DetachedMount tmpfs,
             linux::DetachedMount::of_tmpfs("1777", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  TRY_ASSIGN(const UniqueFd point, linux::sys::open(kTemporary, O_PATH | O_DIRECTORY));
  return tmpfs.attach(point);
}

// The mounts of procfs and sysfs that the host can write to. One that another mount covers is left
// out.
Result<std::vector<UniqueFd>> writable_kernel_mounts(const linux::Procfs& procfs) {
  TRY_ASSIGN(const std::string table, linux::read_mountinfo(procfs));
  std::vector<UniqueFd> mounts;
  for (std::string_view rest = table; const auto entry = linux::next_mount(rest);) {
    const bool is_kernels = entry->type == "proc" || entry->type == "sysfs";
    if (!is_kernels || entry->attributes.starts_with("ro")) continue;
    auto mount =
        linux::sys::open(linux::unescape_path(entry->mount_point).c_str(), O_PATH | O_NOFOLLOW);
    if (!mount) continue;
    TRY_ASSIGN(const std::uint64_t id, linux::mount_of(procfs, *mount));
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
  TRY_ASSIGN(UniqueFd place, linux::sys::open(path.c_str(), O_PATH));
  TRY_ASSIGN(std::string real,
             linux::sys::readlinkat(Fd{AT_FDCWD}, linux::host_fd_link(place).c_str()));
  TRY_ASSIGN(linux::DetachedMount mount, linux::DetachedMount::clone_of(place, recursion));
  trees_.push_back({.path = std::move(real), .place = std::move(place), .mount = std::move(mount)});
  return {};
}

Result<void> ReadOnlyHost::close(const linux::Procfs& procfs, std::span<const std::string> needed) {
  const bool keeps_tmp =
      std::ranges::any_of(needed, lies_in_tmp) ||
      std::ranges::any_of(trees_, [](const Tree& tree) { return lies_in_tmp(tree.path); });
  if (keeps_tmp) TRY(except(HostPath(kTemporary), Recursion::kTree));
  TRY_ASSIGN(const std::vector<UniqueFd> kernels, writable_kernel_mounts(procfs));
  TRY_ASSIGN(const UniqueFd top, linux::sys::open("/", O_PATH | O_DIRECTORY));
  TRY(linux::set_mount_attributes(top, {.set = MOUNT_ATTR_RDONLY}, Recursion::kTree));
  for (const UniqueFd& mount : kernels)
    TRY(linux::set_mount_attributes(mount, {.clear = MOUNT_ATTR_RDONLY}, Recursion::kTop));
  if (!keeps_tmp) TRY(cover_tmp());
  // A tree is attached before those below it.
  std::ranges::sort(trees_, {}, [](const Tree& tree) { return tree.path.size(); });
  for (const Tree& tree : trees_) {
    TRY_ASSIGN(const UniqueFd place, linux::sys::open(tree.path.c_str(), O_PATH | O_NOFOLLOW));
    TRY_ASSIGN(const bool is_same, linux::sys::is_same_file(place, tree.place));
    if (!is_same) return refuse("{}: another file is there now", tree.path);
    TRY(within(tree.mount.attach(place), tree.path));
  }
  return {};
}

}  // namespace ocirun::runtime
