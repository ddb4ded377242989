#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/error.hpp"
#include "linux/id_map.hpp"
#include "linux/paths.hpp"
#include "linux/safe_dir.hpp"
#include "linux/unique_fd.hpp"

namespace ocirun::linux {

/// Where mount and umount events go: mount_namespaces(7). kUnchanged leaves what the mount has.
enum class Propagation : std::uint8_t { kUnchanged, kShared, kSlave, kPrivate, kUnbindable };

/// Attributes for mount_setattr(2) (MOUNT_ATTR_*). The atime modes are an enum, not bits: whoever
/// changes one puts MOUNT_ATTR__ATIME into `clear`.
struct MountAttributes {
  std::uint64_t set = 0;
  std::uint64_t clear = 0;
  bool empty() const { return set == 0 && clear == 0; }
};

enum class IdMapKind : std::uint8_t { kNone, kMount, kRecursive };  // absent, "idmap", "ridmap"

/// One entry of `mounts` (M-1 … M-16), its options read into what the kernel takes.
struct Mount {
  RootfsPath destination;
  std::string type;    // "" for a bind mount
  std::string source;  // a bind's source is absolute already (relative: joined to the bundle)
  bool bind = false;
  bool recursive = false;  // rbind
  bool remount = false;
  std::uint64_t superblock_flags =
      0;  // MS_* that belong to the filesystem: sync, dirsync, mand, lazytime, silent, i_version
  std::uint64_t superblock_clear =
      0;                       // the same, cleared: async, nomand, nolazytime, loud, noiversion
  MountAttributes attributes;  // ro, nosuid, …: this mount
  MountAttributes recursive_attributes;  // rro, rnosuid, …: this mount and all below it
  Propagation propagation = Propagation::kUnchanged;
  bool propagation_recursive = false;
  bool copy_up = false;  // tmpcopyup
  IdMapKind id_map_kind = IdMapKind::kNone;
  IdMap id_map;  // empty: the container's own user namespace
  std::vector<std::string>
      data;  // options for the filesystem, "key=value" or "key", order kept (M-6)
};

/// What became of one word of `options`.
enum class MountOptionUse { kApplied, kFilesystemData };

/// Reads one option of config.md's table into `mount`; a word that the table lacks becomes data
/// (M-6).
MountOptionUse apply_mount_option(Mount& mount, std::string_view option);

/// Every option name that apply_mount_option knows, sorted: features' `mountOptions` (F-5).
std::vector<std::string_view> known_mount_options();

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
