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

enum class Recursion : std::uint8_t { kTop, kTree };  // one mount, or the mount and all below it

/// A filesystem to be made, by fsopen(2) or, where the kernel lacks it, by mount(2).
struct Filesystem {
  std::string type;
  std::string source;
  std::uint64_t superblock_flags = 0;  // MS_SYNCHRONOUS, MS_DIRSYNC, …
  std::uint64_t superblock_clear = 0;  // the MS_* flags to clear; only a remount needs them
  std::string selinux_context;         // "": none
  std::vector<std::string> data;       // "key=value" or "key", in order
};

/// "filesystem \"ext4\" of the source /dev/sdb1", for an error: the source only if it is a path.
std::string describe_filesystem(const Filesystem& filesystem);

/// The SELinux label in a mount option such as "context=a:b:c:s0:c1,c2", without quotes (in a text
/// of several options, quotes protect the label's commas). "" for any other option.
std::string_view label_of(std::string_view option);

/// A mount that is not yet attached to a mount namespace, so it gets all its attributes before any
/// process can see it. After attach(), its descriptor refers to the attached mount.
class DetachedMount {
 public:
  explicit DetachedMount(UniqueFd fd) : fd_(std::move(fd)) {}

  /// Makes a filesystem with fsopen, fsconfig and fsmount, and MOUNT_ATTR_* `attributes`. The error
  /// contains the filesystem's own messages. ENOSYS: before Linux 5.2. EINVAL: possibly an option
  /// that only mount(2) accepts.
  static Result<DetachedMount> of_filesystem(const Filesystem& filesystem,
                                             std::uint64_t attributes);
  /// An empty tmpfs with the mode of its top: "0755".
  static Result<DetachedMount> of_tmpfs(std::string_view mode, std::uint64_t attributes);
  /// Clones the mount at `origin` (any descriptor, O_PATH too), from that directory down. ENOSYS:
  /// before Linux 5.2.
  static Result<DetachedMount> clone_of(Fd origin, Recursion recursion);

  Fd fd() const { return fd_; }
  /// move_mount(2) onto an O_PATH descriptor: no path is resolved again.
  Result<void> attach(Fd target) const;
  UniqueFd release() && { return std::move(fd_); }

 private:
  UniqueFd fd_;
};

/// The attributes for a bind of a device node of the host: nosuid, noexec and read-only. The inode
/// is the host's, so a process that owns it in the container could otherwise change its mode and
/// owner for the whole host. Writing to the device works all the same.
extern const MountAttributes kHostNode;

/// Changes the attributes and the propagation of a mount, detached or not, with mount_setattr(2).
/// Errors: ENOSYS before Linux 5.12; EPERM with the names of the flags that are locked because the
/// mount came from another user namespace.
Result<void> set_mount_attributes(Fd mount, MountAttributes attributes, Recursion recursion,
                                  Propagation propagation = Propagation::kUnchanged);

/// The flag for mount(2): MS_SHARED, MS_SLAVE, MS_PRIVATE or MS_UNBINDABLE; 0 for kUnchanged.
unsigned long propagation_flag(Propagation propagation);

/// The attributes that result from `first` and then `second`. Where they contradict each other,
/// `second` wins.
MountAttributes combine(MountAttributes first, MountAttributes second);

/// The options that the kernel refused because `attributes` clear a flag that is locked on `mount`:
/// 'option "rw": …'. "" when no locked flag explains the refusal.
std::string locked_flags(Fd mount, MountAttributes attributes);

/// Changes the superblock of an attached mount: fspick, fsconfig, reconfigure.
Result<void> reconfigure(Fd mount, const Filesystem& filesystem);

}  // namespace ocirun::linux
