#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/mounts/options.hpp"

namespace ocirun::linux {

enum class Recursion : std::uint8_t { kTop, kTree };  // one mount, or it and all below it

/// What fsopen(2), or mount(2) where the kernel lacks it, needs to make a filesystem.
struct Filesystem {
  std::string type;
  std::string source;
  std::uint64_t superblock_flags = 0;  // MS_SYNCHRONOUS, MS_DIRSYNC, …
  std::uint64_t superblock_clear = 0;  // the same; matters only to a remount
  std::string selinux_context;         // "": none
  std::vector<std::string> data;       // "key=value" or "key", in order
};

/// The label of one of SELinux' options, such as "context=a:b:c:s0:c1,c2", without the quotes that
/// protect its commas where options are one text; "" for any other option.
std::string_view label_of(std::string_view option);

/// A mount that is in no namespace's tree yet: complete, with all its attributes, before anybody
/// sees it. Once attached, its descriptor is the handle of the attached mount.
class DetachedMount {
 public:
  explicit DetachedMount(UniqueFd fd) : fd_(std::move(fd)) {}

  /// fsopen, fsconfig, fsmount with MOUNT_ATTR_* `attributes`. The error has the filesystem's own
  /// messages. ENOSYS: before Linux 5.2; EINVAL: maybe an option that only mount(2) takes.
  static Result<DetachedMount> of_filesystem(const Filesystem& filesystem,
                                             std::uint64_t attributes);
  /// A clone of the mount at `origin` (any descriptor, O_PATH too) from there on down. ENOSYS:
  /// before Linux 5.2.
  static Result<DetachedMount> clone_of(Fd origin, Recursion recursion);

  Fd fd() const { return fd_; }
  /// move_mount(2) onto an O_PATH fd: nothing is resolved again.
  Result<void> attach(Fd target) const;
  UniqueFd release() && { return std::move(fd_); }

 private:
  UniqueFd fd_;
};

/// Of a bind of one of the host's device nodes: the inode is the host's, and whoever owns it in the
/// container would change its mode and owner for everybody. The device takes writes all the same.
extern const MountAttributes kHostNode;

/// Changes the attributes and the propagation of a mount, detached or not, with mount_setattr(2).
/// Errors: ENOSYS before Linux 5.12; EPERM with the names of the flags that are locked because the
/// mount came from another user namespace.
Result<void> set_mount_attributes(Fd mount, MountAttributes attributes, Recursion recursion,
                                  Propagation propagation = Propagation::kUnchanged);

/// MS_SHARED, MS_SLAVE, MS_PRIVATE or MS_UNBINDABLE; 0 for kUnchanged.
unsigned long propagation_flag(Propagation propagation);

/// `first`, then `second`: what the latter names wins.
MountAttributes combine(MountAttributes first, MountAttributes second);

/// Names what a locked mount refused, or nothing when no flag of `mount` explains it: 'option "rw":
/// …'.
std::string locked_flags(Fd mount, MountAttributes attributes);

/// Changes the superblock of an attached mount: fspick, fsconfig, reconfigure.
Result<void> reconfigure(Fd mount, const Filesystem& filesystem);

}  // namespace ocirun::linux
