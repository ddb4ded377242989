#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/detached_mount.hpp"
#include "linux/mounts/mount_point.hpp"
#include "linux/mounts/options.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::linux {

/// One cgroup hierarchy of the host, for a mount of type "cgroup" (M-12).
struct CgroupHierarchy {
  std::string name;     // the directory of its mount: "cpu,cpuacct", "systemd", "unified"
  std::string options;  // v1: mount options: "cpu,cpuacct", "none,name=systemd"
  bool unified = false;
  HostPath own_directory;  // the container's own cgroup, below the host's mount point
};

/// The circumstances that the mounts of one container share.
struct MountContext {
  SafeDir& root;                      // the attached rootfs; make_mount() on "/" assigns it (M-16)
  const Procfs& procfs;               // trusted, opened before the first mount
  std::string_view mount_label;       // SELinux label for files of new filesystems; "" for none
  bool in_user_namespace = false;     // made for this container, or joined
  bool own_cgroup_namespace = false;  // made for this container, not joined
  // Where one of the next three is true and the kernel refuses to mount the filesystem named there
  // (EPERM), the host's mount is bound instead.
  bool shares_network = false;  // sysfs (M-13): the network namespace is the host's, or joined
  bool shares_pids = false;     // proc: the pid namespace is the host's
  bool shares_ipc = false;      // mqueue: the ipc namespace is the host's

  bool own_ipc = false;            // the ipc namespace: made for this container, not joined
  bool in_root_namespace = false;  // no directory of the host can be bound (root_namespace.hpp)
  std::span<const CgroupHierarchy> cgroups;  // a single unified entry: pure v2

  std::span<const NamespaceKind> joined = {};  // by the container; empty without a user namespace
  /// Asks the parent for a mount that the kernel has refused here (EPERM), because a namespace in
  /// `joined` belongs to another user namespace: see make_locked_filesystem(). Returns an empty
  /// descriptor if the parent may not make the mount either. Needed unless `joined` is empty.
  std::function<Result<UniqueFd>()> ask_parent = nullptr;
};

/// The kind of namespace that a new filesystem of the mount shows: sysfs shows a network namespace,
/// proc a pid namespace, mqueue an ipc namespace. Nothing for any other mount.
std::optional<NamespaceKind> namespace_shown_by(const Mount& mount);

/// A mount of /dev that becomes read-only after the devices were made in it.
struct UnfinishedMount {
  UniqueFd mount;
  RootfsPath destination;
};

/// Makes one mount below `context.root`, or changes one (`remount`; M-2 … M-16): as a detached
/// mount, or by mount(2) on /proc/self/fd/N where the kernel lacks the new API. `opened` is the
/// tree of a bind that open_bind() cloned early (wants_early_open()), or a tree that the parent
/// made: id-mapped, or locked (binds.hpp), or of a source that this process cannot reach. The
/// parent has set the attributes of its tree: the caller then gives a `mount` without attributes.
/// Otherwise `opened` is empty. A missing mount point is made inside the root. Errors name source
/// and destination. If the result holds a value, the caller has to call finish_mount() after making
/// the devices.
Result<std::optional<UnfinishedMount>> make_mount(const MountContext& context, const Mount& mount,
                                                  UniqueFd opened);
Result<void> finish_mount(const Procfs& procfs, const UnfinishedMount& unfinished);

/// Makes a tmpfs that is not attached yet, with the attributes of `mount`, and the mode of the
/// directory that it is to cover (M-14). Errors: ENOSYS before Linux 5.2; an option that the kernel
/// refuses.
Result<UniqueFd> make_detached_tmpfs(const MountContext& context, const Mount& mount);

/// Attaches a tree that has the attributes of `mount` already, with the propagation of `mount`.
/// Returns a descriptor of the attached mount.
Result<UniqueFd> place_complete_tree(const MountPoint& point, const Mount& mount, UniqueFd tree);

/// Whether a bind shares mount events with the host in either direction. Its tree must then be
/// cloned (open_bind, in the container's mount namespace) before isolate_mount_tree() ends the
/// propagation.
bool wants_early_open(const Mount& mount);

/// Opens a bind mount's source in the caller's mount namespace, and clones the mount.
/// make_mount() sets the attributes. Errors: ENOENT … for the source (M-3). After ENOSYS, call
/// make_mount() without `opened`.
Result<UniqueFd> open_bind(const Procfs& procfs, const Mount& mount);

/// Like open_bind(), for a source that is open already.
Result<UniqueFd> clone_bind(const Mount& mount, Fd source);

/// Like open_bind(), and id-maps the clone. Errors: `mount` is no bind mount; those of
/// id_map_bind().
Result<UniqueFd> open_id_mapped_bind(const Procfs& procfs, const Mount& mount, Fd user_namespace);

/// Id-maps the clone of a bind by `user_namespace` (idmap, ridmap: M-8). The parent has to call
/// this, because the kernel demands privileges over the filesystem. Error: EINVAL with a hint when
/// the filesystem cannot be id-mapped.
Result<void> id_map_bind(Fd tree, const Mount& mount, Fd user_namespace);

}  // namespace ocirun::linux
