// The mounts that the parent makes for init. It clones the bind mounts
// - whose source is out of reach for the container's user namespace,
// - whose attributes the kernel has to lock,
// - that are id-mapped, which needs privileges over the filesystem of the source.
// It mounts the filesystems that show a joined namespace over which the container's user namespace
// has no rights.

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/binds.hpp"
#include "runtime/parent/init_link.hpp"
#include "runtime/parent/tree_child.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

// Joins `shown`, and makes the filesystem in that namespace. setns(2) moves only later children
// into a pid namespace, so a child makes the procfs of a pid namespace.
Result<UniqueFd> make_in_namespace(const linux::Procfs& procfs, const linux::Mount& mount,
                                   const linux::PinnedNamespace& shown, Fd user_namespace) {
  if (::setns(shown.fd.get(), static_cast<int>(linux::clone_flag(shown.kind))) != 0)
    return fail(errno, "join the {} namespace", linux::config_name(shown.kind));
  const auto make = [&] { return linux::make_locked_filesystem(procfs, mount, user_namespace); };
  if (shown.kind != NamespaceKind::kPid) return make();
  ::prctl(PR_SET_DUMPABLE, 0);  // processes of the pid namespace can see the child
  return open_in_child(make, {procfs.fd(), user_namespace},
                       [](std::chrono::seconds) { return Result<void>(); });
}

linux::Mount bind_of_rootfs(const bundle::Config& config) {
  linux::Mount root;
  root.source = config.root_path.string();
  root.bind = root.recursive = true;
  return root;
}

}  // namespace

Result<UniqueFd> InitLink::open_id_map(const linux::Procfs& procfs,
                                       const linux::Mount& mount) const {
  if (!mount.is_id_mapped()) return UniqueFd();
  if (mount.id_map.empty()) return open_user_namespace(procfs);
  return within(linux::make_user_namespace(procfs.fd(), mount.id_map),
                "make a user namespace for an id-mapped mount");
}

Result<UniqueFd> InitLink::open_user_namespace(const linux::Procfs& procfs) const {
  auto opened = linux::open_namespace(procfs.fd(), pid(), linux::NamespaceKind::kUser);
  // Only ENOENT is explained by hidepid: an ordinary user gets EACCES also without hidepid.
  if (!opened && opened.error().number() == ENOENT)
    return std::unexpected(linux::explain_hidden_process(pid(), std::move(opened).error()));
  return opened;
}

// Finds the source of `mount` if it lies below a mount that init has made (M-3): on the host, the
// path of the source leads to another file or to no file. The source has to lie below the
// container's root, because a symlink of the image might lead anywhere. Otherwise empty.
Result<UniqueFd> InitLink::find_source_inside(const linux::Procfs& procfs,
                                              const linux::Mount& mount) const {
  auto found =
      linux::sys::openat(procfs.fd(), fmt::format("{}/root", pid()).c_str(), O_PATH | O_DIRECTORY);
  if (!found && !is_transient(found.error().number())) return UniqueFd();  // not permitted
  if (!found) return found;
  const linux::SafeDir inside(*std::move(found));
  auto source = inside.open(RootfsPath(mount.source), O_PATH);
  if (is_missing(source)) return UniqueFd();
  if (!source) return source;
  auto rootfs = inside.open(RootfsPath(plan_.config.root_path.string()), O_PATH);
  if (is_missing(rootfs)) return UniqueFd();
  if (!rootfs) return rootfs;
  OCIRUN_TRY_ASSIGN(const bool below, linux::lies_below(procfs, *source, *rootfs));
  if (!below) return UniqueFd();
  if (const auto outside = linux::sys::open(mount.source.c_str(), O_PATH)) {
    OCIRUN_TRY_ASSIGN(const bool same, linux::sys::is_same_file(*source, *outside));
    if (same) return UniqueFd();
  }
  return *std::move(source);
}

Result<UniqueFd> InitLink::clone_source(const linux::Procfs& procfs,
                                        const linux::LockedBind& wanted) const {
  OCIRUN_TRY_ASSIGN(const UniqueFd source, find_source_inside(procfs, wanted.mount));
  if (source) {
    OCIRUN_TRY_ASSIGN(const UniqueFd mount_namespace,
                      linux::open_namespace(procfs.fd(), pid(), linux::NamespaceKind::kMount));
    return linux::clone_bind_inside(procfs, wanted.mount, wanted.id_map, mount_namespace, source);
  }
  if (wanted.user_namespace.value >= 0) return linux::clone_locked_bind(procfs, wanted);
  return linux::clone_unlocked_bind(procfs, wanted.mount, wanted.id_map, wanted.rootfs_propagation);
}

Result<UniqueFd> InitLink::open_tree(const linux::Mount& mount) {
  OCIRUN_TRY_ASSIGN(const linux::Procfs* procfs, procfs_.get());
  OCIRUN_TRY_ASSIGN(const UniqueFd id_map, open_id_map(*procfs, mount));
  UniqueFd user_namespace;
  if (plan_.config.namespaces.contains(NamespaceKind::kUser)) {
    OCIRUN_TRY_ASSIGN(user_namespace, open_user_namespace(*procfs));
  }
  const linux::LockedBind wanted{.mount = mount,
                                 .id_map = id_map,
                                 .user_namespace = user_namespace,
                                 .rootfs_propagation = plan_.config.rootfs_propagation};
  return open_in_child([&] { return clone_source(*procfs, wanted); },
                       {procfs->fd(), id_map, user_namespace},
                       [&](auto so_far) { return hear_nothing(so_far); });
}

Result<UniqueFd> InitLink::make_filesystem(const linux::Mount& mount) {
  const auto kind = linux::namespace_shown_by(mount);
  const auto shown = std::ranges::find_if(
      plan_.pinned, [&](const linux::PinnedNamespace& one) { return one.kind == kind; });
  if (shown == plan_.pinned.end()) return fail(EPERM, "{:?} shows no joined namespace", mount.type);
  OCIRUN_TRY_ASSIGN(const linux::Procfs* procfs, procfs_.get());
  OCIRUN_TRY_ASSIGN(const UniqueFd user_namespace, open_user_namespace(*procfs));
  return open_in_child([&] { return make_in_namespace(*procfs, mount, *shown, user_namespace); },
                       {procfs->fd(), user_namespace, shown->fd},
                       [&](auto so_far) { return hear_nothing(so_far); });
}

// Records the id of the rootfs mount. Init attaches the mount after this record is written, because
// `delete --force` must be able to remove an attached mount.
Result<void> InitLink::record_root_mount(const linux::Packet& packet) {
  const auto mount = linux::number<std::uint64_t>(packet.payload);
  if (!mount) return fail(EPROTO, "RootMount {}", packet.payload);
  context_.intent.record.rootfs_mount = mount;
  return context_.directory.write_intent(context_.intent);
}

Result<void> InitLink::open_mount(const linux::Packet& packet) {
  OCIRUN_TRY_ASSIGN(const int index, parse_number(packet.payload));
  const bool is_rootfs = index == kRootfsIndex;
  if (!is_rootfs && (index < 0 || static_cast<std::size_t>(index) >= plan_.config.mounts.size()))
    return fail(EPROTO, "OpenMount {}", packet.payload);
  const linux::Mount mount = is_rootfs ? bind_of_rootfs(plan_.config)
                                       : plan_.config.mounts[static_cast<std::size_t>(index)];
  auto tree = mount.bind || mount.is_id_mapped() ? open_tree(mount) : make_filesystem(mount);
  if (tree) return send_tree(*tree);
  // If the parent may not make the mount, the answer has no tree. Init then makes the mount, or
  // reports the error of an earlier try of init.
  const int error = tree.error().number();
  if (!mount.is_id_mapped() && (error == EPERM || error == EACCES)) return say(Message::kMountTree);
  return std::unexpected(
      tree.error().within(is_rootfs ? "/root/path" : fmt::format("/mounts/{}", index)));
}

}  // namespace ocirun::runtime
