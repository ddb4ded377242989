#include "runtime/compare/host_mounts.hpp"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include <algorithm>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

template <typename Test>
bool any_mount(std::string_view table, Test test) {
  while (const auto entry = linux::next_mount(table))
    if (test(*entry)) return true;
  return false;
}

// The path in the file system of a file that the host has on `path`, below the mount point of
// `entry`.
std::string path_in_filesystem(const linux::MountEntry& entry, const std::string& path) {
  const std::string point = linux::unescape_path(entry.mount_point);
  std::string root = linux::unescape_path(entry.root);
  if (root == "/") root.clear();
  root += point == "/" ? path : path.substr(point.size());
  return root.empty() ? "/" : root;
}

// "12" of "shared:12" or "master:12"; "" for other words. "propagate_from:12" comes with a master.
std::string_view peer_group(std::string_view word) {
  const std::string_view kind = linux::cut(word, ':');
  return kind == "shared" || kind == "master" ? word : std::string_view();
}

}  // namespace

Result<HostMounts> HostMounts::read(const linux::Procfs& procfs) {
  TRY_ASSIGN(std::string table, linux::read_mountinfo(procfs));
  return HostMounts(std::move(table));
}

Result<void> HostMounts::allow(const linux::Procfs& procfs, Fd file, linux::Recursion recursion,
                               MountEvents events) {
  TRY_ASSIGN(const std::uint64_t mount, linux::mount_of(procfs, file));
  TRY_ASSIGN(const std::string path, linux::host_path_of(file));
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

}  // namespace ocirun::runtime
