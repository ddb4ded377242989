#include "runtime/commands/live_mounts.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <ranges>
#include <set>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/mounts/binds.hpp"
#include "linux/mounts/legacy.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/mounts/mount_point.hpp"
#include "runtime/parent/tree_child.hpp"

namespace ocirun::runtime {
namespace {

using linux::MountPoint;

linux::MountContext context_of(const ContainerEntry& entry, linux::SafeDir& root) {
  return {.root = root,
          .procfs = entry.procfs(),
          .mount_label = entry.config().mount_label,
          .in_user_namespace = entry.user_namespace().value >= 0,
          .cgroups = {}};
}

Result<UniqueFd> open_bind(const ContainerEntry& entry, const linux::Mount& mount, Fd id_map) {
  const linux::Propagation propagation = entry.config().rootfs_propagation;
  if (entry.user_namespace().value < 0)
    return linux::clone_unlocked_bind(entry.procfs(), mount, id_map, propagation);
  return linux::clone_locked_bind(entry.procfs(), {.mount = mount,
                                                   .id_map = id_map,
                                                   .user_namespace = entry.user_namespace(),
                                                   .rootfs_propagation = propagation});
}

/// A line of the caller's mountinfo, with its texts unescaped.
struct FoundMount {
  std::string point, propagation;
};

Result<std::optional<FoundMount>> find_mount(const linux::Procfs& procfs, std::uint64_t number) {
  OCIRUN_TRY_ASSIGN(const std::string table, linux::read_mountinfo(procfs));
  std::string_view rest = table;
  while (const auto entry = linux::next_mount(rest))
    if (entry->id == number)
      return FoundMount{.point = linux::unescape_path(entry->mount_point),
                        .propagation = std::string(entry->propagation)};
  return std::nullopt;
}

/// "shared:12" of the fields of propagation, or "".
std::string group_shared(std::string_view propagation) {
  for (const std::string_view field : linux::words(propagation))
    if (field.starts_with("shared:")) return std::string(field);
  return "";
}

/// The peer groups of the caller's mounts.
Result<std::set<std::string>> groups_of_caller(const linux::Procfs& procfs) {
  OCIRUN_TRY_ASSIGN(const std::string table, linux::read_mountinfo(procfs));
  std::set<std::string> groups;
  std::string_view rest = table;
  while (const auto entry = linux::next_mount(rest))
    groups.insert(group_shared(entry->propagation));
  groups.erase("");
  return groups;
}

/// A mount on or above a masked or read-only path would uncover it. The path of the mount point is
/// the kernel's, without symlinks.
Result<void> check_uncovers(const bundle::Config& config, const std::string& point) {
  const auto refuse_covering = [&](const std::vector<RootfsPath>& paths,
                                   const char* field) -> Result<void> {
    for (const RootfsPath& path : paths)
      if (linux::mount_covers(point, path.string()))
        return refuse("it would uncover {} of {}: choose another destination", path.string(),
                      field);
    return {};
  };
  OCIRUN_TRY(refuse_covering(config.masked_paths, "/linux/maskedPaths"));
  return refuse_covering(config.readonly_paths, "/linux/readonlyPaths");
}

/// A mount below a mount that the container shares with the host appears on the host too, and
/// outlives the container.
Result<void> check_stays_inside(const linux::Procfs& procfs, Fd target,
                                const std::set<std::string>& of_host) {
  OCIRUN_TRY_ASSIGN(const std::uint64_t number, linux::mount_of(procfs, target));
  OCIRUN_TRY_ASSIGN(const auto around, find_mount(procfs, number));
  if (around && !of_host.contains(group_shared(around->propagation))) return {};
  return refuse(
      "it lies on a mount that the container shares with the host (option \"shared\"): the new "
      "mount would appear on the host too, and stay there");
}

/// Unmounts the mount whose root `mounted` is. A container may mount over it meanwhile; then what
/// is on top goes first.
Result<void> unmount_all_of(const linux::Procfs& procfs, Fd mounted, std::uint64_t number) {
  constexpr int kMostOnTop = 100;
  for (int tries = 0; tries < kMostOnTop; ++tries) {
    const auto unmounted = linux::legacy::unmount(procfs, mounted);
    OCIRUN_TRY_ASSIGN(const auto found, find_mount(procfs, number));
    if (!found) return {};
    OCIRUN_TRY(unmounted);
  }
  return refuse("the container mounts over it again and again");
}

Result<MountPoint> open_point(const ContainerEntry& entry, const linux::SafeDir& root,
                              const LiveTree& tree, const std::set<std::string>& of_host) {
  OCIRUN_TRY_ASSIGN(MountPoint point,
                    linux::open_mount_point(root, entry.procfs(), tree.mount,
                                            tree.mount.bind ? Fd(tree.tree) : Fd{}));
  OCIRUN_TRY_ASSIGN(const std::string path, entry.procfs().path_of(point.target));
  if (path == "/") return refuse("it leads to /, the root of the running container");
  OCIRUN_TRY(check_uncovers(entry.config(), path));
  OCIRUN_TRY(check_stays_inside(entry.procfs(), point.target, of_host));
  return point;
}

/// Returns the line of take_mounts(); an error is why the mount is still there.
Result<std::string> take_mount(const linux::Procfs& procfs, const linux::SafeDir& root,
                               const OldMount& old) {
  OCIRUN_TRY_ASSIGN(const auto found, find_mount(procfs, old.number));
  if (!found) return std::string(kWasMissing);
  const auto mounted = root.open(RootfsPath(found->point), O_PATH);
  const bool has_number = mounted && linux::mount_of(procfs, *mounted).value_or(0) == old.number;
  if (!has_number) return refuse("another mount covers it at {}: unmount that first", found->point);
  OCIRUN_TRY_ASSIGN(const std::uint64_t id, linux::sys::mount_id(*mounted));
  if (id != old.id) return std::string(kWasMissing);  // the kernel has used the number again
  OCIRUN_TRY(within(unmount_all_of(procfs, *mounted, old.number), "{}", found->point));
  return "";
}

}  // namespace

Result<UniqueFd> make_live_tree(const ContainerEntry& entry, const linux::Mount& mount) {
  UniqueFd made_map;
  Fd id_map;
  if (mount.is_id_mapped()) {
    id_map = entry.user_namespace();
    if (!mount.id_map.empty()) {
      OCIRUN_TRY_ASSIGN(made_map, linux::make_user_namespace(entry.procfs().fd(), mount.id_map));
      id_map = made_map;
    }
  }
  std::vector<Fd> kept = entry.descriptors();
  kept.push_back(id_map);
  const auto make = [&]() -> Result<UniqueFd> {
    if (mount.bind) return open_bind(entry, mount, id_map);
    OCIRUN_TRY_ASSIGN(linux::SafeDir root, entry.enter());
    return linux::make_detached_tmpfs(context_of(entry, root), mount);
  };
  return open_in_child(make, kept, [&](std::chrono::seconds so_far) -> Result<void> {
    return refuse("{}: its file system has not answered for {} s",
                  mount.bind ? "/source: " + mount.source : "/destination", so_far.count());
  });
}

Result<void> attach_trees(const ContainerEntry& entry, std::vector<LiveTree>& trees,
                          Rollback& undo) {
  const linux::Procfs& procfs = entry.procfs();
  OCIRUN_TRY_ASSIGN(const std::set<std::string> of_host, groups_of_caller(procfs));
  OCIRUN_TRY_ASSIGN(const linux::SafeDir root, entry.enter());
  const auto named = [&](auto result, std::size_t index) {
    return within(std::move(result), "/{}: {}", index, trees[index].mount.destination.string());
  };
  // A file system of the container may hang here, before anything is attached.
  std::vector<MountPoint> points;
  for (std::size_t index = 0; index < trees.size(); ++index) {
    OCIRUN_TRY_ASSIGN(MountPoint point,
                      named(open_point(entry, root, trees[index], of_host), index));
    points.push_back(std::move(point));
  }
  for (std::size_t index = 0; index < trees.size(); ++index) {
    LiveTree& tree = trees[index];
    OCIRUN_TRY_ASSIGN(
        UniqueFd mounted,
        named(linux::place_complete_tree(points[index], tree.mount, std::move(tree.tree)), index));
    const auto kept = std::make_shared<UniqueFd>(std::move(mounted));
    undo.add(
        [kept, &procfs, number = tree.number] { ignore(unmount_all_of(procfs, *kept, number)); });
  }
  return {};
}

Result<std::string> take_mounts(const ContainerEntry& entry, const std::vector<OldMount>& old) {
  OCIRUN_TRY_ASSIGN(const linux::SafeDir root, entry.enter());
  std::string lines;
  for (const OldMount& mount : std::views::reverse(old)) {
    const auto taken = take_mount(entry.procfs(), root, mount);
    lines += (taken ? *taken : linux::in_one_line(taken.error().message())) + "\n";
    if (!taken) break;
  }
  return lines;
}

}  // namespace ocirun::runtime
