#pragma once

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
#include "linux/mounts/options.hpp"

namespace ocirun::linux {

/// One cgroup hierarchy of the host, for a mount of type "cgroup" (M-12).
struct CgroupHierarchy {
  std::string name;     // the directory it gets: "cpu,cpuacct", "systemd", "unified"
  std::string options;  // v1, for the filesystem: "cpu,cpuacct", "none,name=systemd"
  bool unified = false;
  HostPath own_directory;  // the container's own cgroup, as the host mounts it
};

/// What the mounts of one container share.
struct MountContext {
  SafeDir& root;                   // the rootfs as attached; a mount on "/" replaces it (M-16)
  const Procfs& procfs;            // trusted, opened before the first mount
  std::string_view mount_label;    // SELinux: of the files of new filesystems; "" for none
  bool in_user_namespace = false;  // its mounts have locked flags; hints in errors
  bool own_cgroup_namespace = false;
  // Without a namespace of its own of that kind: what the kernel refuses to mount anew is the
  // host's, bound.
  bool shares_network = false;  // sysfs (M-13)
  bool shares_pids = false;     // proc
  bool shares_ipc = false;      // mqueue

  bool own_ipc = false;                      // an ipc namespace that was made for this container
  std::span<const CgroupHierarchy> cgroups;  // of one unified entry: pure v2
};

/// A mount of /dev that is to be read-only once the devices are in it.
struct UnfinishedMount {
  UniqueFd mount;
  RootfsPath destination;
};

/// Makes one mount below `context.root` (M-2 … M-16): by detached mount, or by mount(2) on an fd
/// path where the kernel lacks the new API. `opened` is the tree that was opened before: id-mapped,
/// unreachable for the container's user namespace, or a peer of the host's (wants_early_open);
/// empty otherwise. The mount point is made inside the root when it is missing. Errors name
/// source and destination. A result with a value wants finish_mount() after the devices were made.
Result<std::optional<UnfinishedMount>> make_mount(const MountContext& context, const Mount& mount,
                                                  UniqueFd opened);
Result<void> finish_mount(const Procfs& procfs, const UnfinishedMount& unfinished);

/// A bind whose events reach the host, or come from it: its tree is to be cloned (open_bind, in the
/// container's mount namespace) before isolate_mount_tree() cuts the connection.
bool wants_early_open(const Mount& mount);

/// Clones a bind mount's source from the caller's mount namespace; attributes are left to
/// make_mount. `source` is the source where that is open already. Errors: ENOENT … for the source
/// (M-3); ENOSYS: pass no `opened` then.
Result<UniqueFd> open_bind(const Procfs& procfs, const Mount& mount, Fd source = {});

/// The same, id-mapped by `user_namespace` (idmap, ridmap: M-8); for the parent, because the kernel
/// asks for privileges over the filesystem. It is not locked in the container's user namespace.
/// Errors: no bind mount, EINVAL with a hint when the filesystem cannot be id-mapped.
Result<UniqueFd> open_id_mapped_bind(const Procfs& procfs, const Mount& mount, Fd user_namespace,
                                     Fd source = {});

}  // namespace ocirun::linux
