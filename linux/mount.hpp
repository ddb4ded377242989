#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/error.hpp"
#include "linux/mount_options.hpp"
#include "linux/paths.hpp"
#include "linux/safe_dir.hpp"
#include "linux/unique_fd.hpp"

namespace ocirun::linux {

/// A mount that is in no namespace's tree yet: complete, with all its attributes, before anybody
/// sees it.
class DetachedMount {
 public:
  explicit DetachedMount(UniqueFd fd) : fd_(std::move(fd)) {}
  Fd fd() const { return fd_; }
  /// move_mount(2) onto an O_PATH fd: nothing is resolved again.
  Result<void> attach(Fd target) const;
  UniqueFd release() && { return std::move(fd_); }

 private:
  UniqueFd fd_;
};

/// Opens a bind mount's source as a detached tree of the caller's mount namespace, attributes set.
Result<DetachedMount> open_bind(const HostPath& source, bool recursive);

/// What the mounts of one container share.
struct MountContext {
  const SafeDir& root;  // the rootfs as it is attached in the container's mount namespace
  const std::string& mount_label;  // SELinux context for filesystems that take one; "" for none
  bool in_user_namespace =
      false;  // locked flags are kept and asked-for clearing of one is an error
  bool own_cgroup_namespace = false;
  bool rootless_sysfs_fallback =
      false;                    // sysfs refused (foreign netns): bind the host's /sys (M-13)
  Fd container_user_namespace;  // for idmap without mappings of its own; -1 for none
};

/// Makes one mount below `context.root` (M-2 … M-16): by detached mount, or by mount(2) on an fd
/// path where the kernel lacks the new API. `opened` is the tree (bind) or filesystem that the
/// parent opened because the container's user namespace may not (id-mapped or unreachable source);
/// empty otherwise. The mount point is created inside the root when it is missing. Errors name
/// source and destination.
Result<void> make_mount(const MountContext& context, const Mount& mount, UniqueFd opened);

}  // namespace ocirun::linux
