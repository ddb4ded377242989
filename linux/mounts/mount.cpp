#include "linux/mounts/mount.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/files/copy_up.hpp"
#include "linux/mounts/binds.hpp"
#include "linux/mounts/cgroup_mount.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/mounts/legacy.hpp"
#include "linux/mounts/mount_point.hpp"
#include "linux/mounts/place.hpp"
#include "linux/process/lsm.hpp"

namespace ocirun::linux {
namespace {

/// Filesystems whose files SELinux labels by itself. They refuse the option `context=`.
constexpr std::array<std::string_view, 6> kSelfLabelled = {"cgroup", "cgroup2", "mqueue",
                                                           "proc",   "sysfs",   "securityfs"};
constexpr const char* kHostSysfs = "/sys";
constexpr const char* kHostProc = "/proc";
constexpr const char* kHostMqueue = "/dev/mqueue";

Recursion recursion_of(bool recursive) { return recursive ? Recursion::kTree : Recursion::kTop; }

/// The option `slave` makes all mounts of a recursive bind slaves. open_bind() has cloned the tree
/// early (wants_early_open()), as peers of the host's mounts: otherwise a mount that the container
/// makes below one of them would appear on the host.
Placement placement_of(const Mount& mount) {
  const bool is_slave_tree = mount.recursive && mount.propagation == Propagation::kSlave;
  return {.recursion = recursion_of(mount.recursive),
          .attributes = mount.attributes,
          .recursive_attributes = mount.recursive_attributes,
          .propagation = mount.propagation,
          .propagation_recursion = recursion_of(mount.propagation_recursive || is_slave_tree)};
}

bool has_option(const Mount& mount, std::string_view prefix) {
  return std::ranges::any_of(mount.data,
                             [&](const std::string& word) { return word.starts_with(prefix); });
}

Filesystem filesystem_of(const MountContext& context, const Mount& mount) {
  Filesystem filesystem{.type = mount.type,
                        .source = mount.source,
                        .superblock_flags = mount.superblock_flags,
                        .superblock_clear = mount.superblock_clear,
                        .selinux_context = {},
                        .data = mount.data};
  // On a block device, the superblock becomes read-only too: the device may be read-only, and the
  // journal must not be replayed. For other filesystems a read-only mount is enough.
  if ((mount.attributes.set & MOUNT_ATTR_RDONLY) && mount.source.starts_with('/'))
    filesystem.superblock_flags |= MS_RDONLY;
  // The kernel refuses a second context, and a context together with defcontext.
  if (!has_option(mount, "context=") && !has_option(mount, "defcontext=") &&
      std::ranges::find(kSelfLabelled, mount.type) == kSelfLabelled.end())
    filesystem.selinux_context = context.mount_label;
  return filesystem;
}

/// Refuses a request that no later step can fulfil, before anything is changed.
Result<void> check_request(const Mount& mount, bool opened) {
  if (mount.destination.empty()) return refuse("the destination is empty");
  if (mount.bind && !mount.remount && !mount.data.empty())
    return refuse(
        "bind mounts cannot have any filesystem-specific options applied: {} (unknown option?)",
        fmt::join(mount.data, ","));
  if (!mount.bind && !mount.remount && mount.type.empty())
    return refuse("a mount that is no bind mount needs a type");
  if (mount.copy_up && (mount.bind || mount.type != "tmpfs"))
    return refuse("option \"tmpcopyup\" is for mounts of type \"tmpfs\" only");
  if (mount.is_id_mapped() && !opened)
    return refuse("option \"{}\" needs mappings or a user namespace of the container",
                  mount.id_map_kind == IdMapKind::kMount ? "idmap" : "ridmap");
  return {};
}

/// M-14: a tmpfs gets the mode of the directory that it covers.
Result<void> inherit_mode(Filesystem& filesystem, const Mount& mount, Fd covered) {
  if (mount.type != "tmpfs" || has_option(mount, "mode=")) return {};
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(covered));
  filesystem.data.push_back(fmt::format("mode={:o}", info.st_mode & 07777));
  return {};
}

Fill fill_of(const Mount& mount) {
  if (!mount.copy_up) return nullptr;
  const CopyUpKeeps keeps{.mode = has_option(mount, "mode="),
                          .uid = has_option(mount, "uid="),
                          .gid = has_option(mount, "gid=")};
  return [keeps](Fd covered, Fd filesystem) { return copy_up(covered, filesystem, keeps); };
}

/// L-34: an mqueue filesystem exists before the mount, so `context=` comes too late. Labels the
/// root of that filesystem instead, but not the root of the host's mqueue.
Result<void> label_root(const MountContext& context, const Mount& mount, Fd made) {
  if (context.mount_label.empty() || mount.type != "mqueue" || context.shares_ipc) return {};
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, context.procfs.reopen(made, O_RDONLY | O_DIRECTORY));
  auto labelled = set_file_label(directory, context.mount_label);
  // The mqueue of a joined ipc namespace may belong to an id that is not mapped here. Then the
  // mqueue keeps its label.
  const bool may_belong_to_others = context.in_user_namespace && !context.own_ipc;
  if (!labelled && may_belong_to_others && labelled.error().number() == EPERM) return {};
  return labelled;
}

bool shows_joined_namespace(const MountContext& context, const Mount& mount) {
  const auto kind = namespace_shown_by(mount);
  return kind && std::ranges::find(context.joined, *kind) != context.joined.end();
}

/// M-15, M-13: adds to the kernel's error the remedy for the author of a config.json.
Error with_hint(Error error, const MountContext& context, const Mount& mount) {
  if (!context.in_user_namespace) return error;
  if (error.number() == EINVAL && (has_option(mount, "gid=") || has_option(mount, "uid=")))
    error.within(
        "an id in uid= or gid= that the user namespace does not map is invalid: drop the option or "
        "map the id (gid=5 is usual for devpts)");
  if (error.number() == EPERM && shows_joined_namespace(context, mount))
    return error.within(fmt::format(
        "{0} shows the {1} namespace that the container joins, which belongs to another user "
        "namespace: join that user namespace too, give the container its own {1} namespace, or "
        "leave out this mount",
        mount.type, config_name(*namespace_shown_by(mount))));
  if (error.number() == EPERM && mount.type == "proc")
    error.within(
        "in a user namespace a procfs is only granted where a complete, uncovered one is visible: "
        "in an outer container, leave out its maskedPaths and readonlyPaths below /proc (podman "
        "--security-opt unmask=ALL)");
  if (error.number() == EPERM && (mount.type == "sysfs" || mount.type == "mqueue"))
    error.within(fmt::format(
        "{} belongs to a namespace that the container shares: give the container its own "
        "{} namespace",
        mount.type, mount.type == "sysfs" ? "network" : "ipc"));
  return error;
}

/// A directory of the host that is bound in place of a new filesystem. If the container shares the
/// namespace that the filesystem shows, a user namespace may not mount a new one.
struct HostDirectory {
  const char* path;
  bool read_only;
};

std::optional<HostDirectory> host_directory_for(const MountContext& context, const Mount& mount) {
  // M-13. The whole tree is read-only, including the cgroup tree (runc CVE-2023-25809).
  if (mount.type == "sysfs" && context.shares_network) return HostDirectory{kHostSysfs, true};
  if (mount.type == "proc" && context.shares_pids) return HostDirectory{kHostProc, false};
  if (mount.type == "mqueue" && context.shares_ipc) return HostDirectory{kHostMqueue, false};
  return std::nullopt;
}

Result<UniqueFd> place_host_directory(const Mount& mount, const MountPoint& point,
                                      const HostDirectory& directory, Fd host) {
  Placement placement = placement_of(mount);
  placement.recursion = Recursion::kTree;
  if (directory.read_only) {
    placement.recursive_attributes.set |= MOUNT_ATTR_RDONLY;
    placement.attributes.clear &= ~std::uint64_t{MOUNT_ATTR_RDONLY};
  }
  return within(place_bind(point, host, placement), "bind {}", directory.path);
}

Result<UniqueFd> place_new_filesystem(const MountContext& context, const Mount& mount,
                                      const MountPoint& point, std::uint64_t held_back) {
  Filesystem filesystem = filesystem_of(context, mount);
  if (!point.created) OCIRUN_TRY(inherit_mode(filesystem, mount, point.target));
  const std::uint64_t attributes =
      combine(mount.recursive_attributes, mount.attributes).set & ~held_back;
  Result<UniqueFd> made = place_filesystem(point, filesystem, attributes, fill_of(mount));
  if (!made && made.error().number() == EPERM && shows_joined_namespace(context, mount)) {
    OCIRUN_TRY_ASSIGN(UniqueFd tree, context.ask_parent());
    if (tree) made = place_complete_tree(point, mount, std::move(tree));
  }
  if (!made && made.error().number() == EPERM && !context.in_root_namespace)
    if (const auto directory = host_directory_for(context, mount))
      if (auto host = sys::open(directory->path, O_PATH | O_DIRECTORY))
        return place_host_directory(mount, point, *directory, *host);
  if (!made) return std::unexpected(with_hint(std::move(made).error(), context, mount));
  OCIRUN_TRY(label_root(context, mount, *made));
  OCIRUN_TRY(change_propagation(context.procfs, *made, mount.propagation,
                                recursion_of(mount.propagation_recursive)));
  return made;
}

/// `remount`: changes the attributes of an existing mount, and also the filesystem's options if
/// some are given and `bind` is not.
Result<void> remount(const MountContext& context, const Mount& mount) {
  OCIRUN_TRY_ASSIGN(const UniqueFd target, context.root.open(mount.destination, O_PATH));
  const Filesystem filesystem = {.type = mount.type,
                                 .source = {},
                                 .superblock_flags = mount.superblock_flags,
                                 .superblock_clear = mount.superblock_clear,
                                 .selinux_context = {},
                                 .data = mount.data};
  const bool new_options = !filesystem.data.empty() || filesystem.superblock_flags != 0 ||
                           filesystem.superblock_clear != 0;
  if (!mount.bind && new_options) {
    auto done = reconfigure(target, filesystem);
    if (!done && done.error().number() == ENOSYS)
      done = legacy::reconfigure(context.procfs, target, filesystem);
    OCIRUN_TRY(std::move(done));
  }
  if (!mount.recursive_attributes.empty())
    OCIRUN_TRY(
        change_attributes(context.procfs, target, mount.recursive_attributes, Recursion::kTree));
  if (!mount.attributes.empty()) {
    auto done = change_attributes(context.procfs, target, mount.attributes, Recursion::kTop);
    if (!done && done.error().number() == EINVAL) done.error().within("remount: no mount point?");
    OCIRUN_TRY(std::move(done));
  }
  return change_propagation(context.procfs, target, mount.propagation,
                            recursion_of(mount.propagation_recursive));
}

/// Makes and attaches the mount. `held_back` are attributes that a new filesystem gets later, in
/// finish_mount().
Result<UniqueFd> place(const MountContext& context, const Mount& mount, UniqueFd opened,
                       std::uint64_t held_back) {
  UniqueFd source;
  if (mount.bind && !opened) {
    OCIRUN_TRY_ASSIGN(source, open_bind_source(context.procfs, mount));
  }
  const Fd origin = opened ? Fd(opened) : Fd(source);
  OCIRUN_TRY_ASSIGN(const MountPoint point,
                    open_mount_point(context.root, context.procfs, mount, origin));
  if (opened) return place_tree(point, DetachedMount(std::move(opened)), placement_of(mount));
  if (mount.bind)
    return within(place_bind(point, source, placement_of(mount)), "bind " + mount.source);
  if (mount.is_of_cgroups()) return place_cgroups(context, mount, point);
  return place_new_filesystem(context, mount, point, held_back);
}

Result<std::optional<UnfinishedMount>> make(const MountContext& context, const Mount& mount,
                                            UniqueFd opened) {
  OCIRUN_TRY(check_request(mount, static_cast<bool>(opened)));
  if (mount.remount) {
    OCIRUN_TRY(remount(context, mount));
    return std::nullopt;
  }
  const std::string path = clean_path(mount.destination.string());
  const bool is_dev = is_dev_directory(path) && !mount.bind;
  const std::uint64_t held_back = is_dev ? mount.attributes.set & MOUNT_ATTR_RDONLY : 0;
  OCIRUN_TRY_ASSIGN(UniqueFd made, place(context, mount, std::move(opened), held_back));
  if (path == "/") {  // M-16: this mount becomes the root
    context.root = SafeDir(std::move(made));
    return std::nullopt;
  }
  if (held_back == 0) return std::nullopt;
  return UnfinishedMount{std::move(made), mount.destination};
}

}  // namespace

std::optional<NamespaceKind> namespace_shown_by(const Mount& mount) {
  if (mount.bind || mount.remount) return std::nullopt;
  if (mount.type == "sysfs") return NamespaceKind::kNetwork;
  if (mount.type == "proc") return NamespaceKind::kPid;
  if (mount.type == "mqueue") return NamespaceKind::kIpc;
  return std::nullopt;
}

Result<std::optional<UnfinishedMount>> make_mount(const MountContext& context, const Mount& mount,
                                                  UniqueFd opened) {
  return within(make(context, mount, std::move(opened)), "mount " + mount.destination.string());
}

Result<UniqueFd> place_complete_tree(const MountPoint& point, const Mount& mount, UniqueFd tree) {
  Placement placement = placement_of(mount);
  placement.attributes = placement.recursive_attributes = {};
  return place_tree(point, DetachedMount(std::move(tree)), placement);
}

Result<UniqueFd> make_detached_tmpfs(const MountContext& context, const Mount& mount) {
  OCIRUN_TRY(check_request(mount, false));
  Filesystem filesystem = filesystem_of(context, mount);
  if (const auto covered = context.root.open(mount.destination, O_PATH | O_DIRECTORY))
    OCIRUN_TRY(inherit_mode(filesystem, mount, *covered));
  auto made = DetachedMount::of_filesystem(
      filesystem, combine(mount.recursive_attributes, mount.attributes).set);
  if (!made) return std::unexpected(with_hint(std::move(made).error(), context, mount));
  return std::move(*made).release();
}

Result<void> finish_mount(const Procfs& procfs, const UnfinishedMount& unfinished) {
  return within(
      change_attributes(procfs, unfinished.mount, {.set = MOUNT_ATTR_RDONLY}, Recursion::kTop),
      "make {} read-only", unfinished.destination.string());
}

bool wants_early_open(const Mount& mount) {
  return mount.bind && !mount.remount &&
         (mount.propagation == Propagation::kShared || mount.propagation == Propagation::kSlave);
}

Result<UniqueFd> open_bind(const Procfs& procfs, const Mount& mount) {
  OCIRUN_TRY_ASSIGN(const UniqueFd source,
                    within(open_bind_source(procfs, mount), "mount " + mount.destination.string()));
  return clone_bind(mount, source);
}

Result<UniqueFd> open_id_mapped_bind(const Procfs& procfs, const Mount& mount, Fd user_namespace) {
  if (!mount.bind)
    return refuse("mount {}: only a bind mount can be id-mapped", mount.destination.string());
  OCIRUN_TRY_ASSIGN(UniqueFd tree, open_bind(procfs, mount));
  OCIRUN_TRY(id_map_bind(tree, mount, user_namespace));
  return tree;
}

Result<UniqueFd> clone_bind(const Mount& mount, Fd source) {
  OCIRUN_TRY_ASSIGN(DetachedMount tree,
                    within(DetachedMount::clone_of(source, recursion_of(mount.recursive)),
                           "mount {}: bind {}", mount.destination.string(), mount.source));
  return std::move(tree).release();
}

Result<void> id_map_bind(Fd tree, const Mount& mount, Fd user_namespace) {
  mount_attr wanted{};
  wanted.attr_set = MOUNT_ATTR_IDMAP;
  wanted.userns_fd = static_cast<__u64>(user_namespace.value);
  const bool whole_tree = mount.id_map_kind == IdMapKind::kRecursive;
  auto mapped = sys::mount_setattr(tree, whole_tree ? unsigned{AT_RECURSIVE} : 0, wanted);
  if (mapped) return {};
  std::string what = fmt::format("mount {}: id-map {}", mount.destination.string(), mount.source);
  if (mapped.error().number() == EINVAL)
    what += " (its filesystem has no id-mapped mounts, or one of its mounts is id-mapped already)";
  return std::unexpected(std::move(mapped.error().within(std::move(what))));
}

}  // namespace ocirun::linux
