#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/namespaces/id_map.hpp"

namespace ocirun::linux {

/// The propagation type of a mount: mount_namespaces(7). kUnchanged keeps the present type.
enum class Propagation : std::uint8_t { kUnchanged, kShared, kSlave, kPrivate, kUnbindable };

/// Attributes for mount_setattr(2) (MOUNT_ATTR_*). The atime modes are an enum, not bits: to change
/// the mode, put MOUNT_ATTR__ATIME into `clear`.
struct MountAttributes {
  std::uint64_t set = 0;
  std::uint64_t clear = 0;
  bool empty() const { return set == 0 && clear == 0; }
  friend bool operator==(const MountAttributes&, const MountAttributes&) = default;
};

enum class IdMapKind : std::uint8_t { kNone, kMount, kRecursive };  // absent, "idmap", "ridmap"

/// One entry of `mounts` (M-1 … M-16), with its options translated into flags and data for the
/// kernel.
struct Mount {
  RootfsPath destination;
  std::string type;    // "" for a bind mount
  std::string source;  // a bind's source is absolute already (relative: joined to the bundle)
  // root.path if the path of a bind mount's source lies below it, else "".
  std::string source_root;
  bool bind = false;
  bool recursive = false;  // rbind
  bool remount = false;
  // MS_* flags of the superblock: to set (sync, dirsync, mand, lazytime, silent, iversion), and to
  // clear (async, nomand, nolazytime, loud, noiversion).
  std::uint64_t superblock_flags = 0;
  std::uint64_t superblock_clear = 0;
  MountAttributes attributes;            // ro, nosuid, …: of this mount
  MountAttributes recursive_attributes;  // rro, rnosuid, …: of this mount and all below it
  Propagation propagation = Propagation::kUnchanged;
  bool propagation_recursive = false;
  bool copy_up = false;  // tmpcopyup
  IdMapKind id_map_kind = IdMapKind::kNone;
  IdMap id_map;                   // empty: the container's own user namespace
  std::vector<std::string> data;  // filesystem options, "key=value" or "key", in order (M-6)

  bool is_id_mapped() const { return id_map_kind != IdMapKind::kNone; }
  bool is_of_cgroups() const { return !bind && (type == "cgroup" || type == "cgroup2"); }
};

/// The use that was made of one word of `options`.
enum class MountOptionUse { kApplied, kFilesystemData };

/// Applies one option of config.md's table to `mount`. A word that is not in the table becomes
/// filesystem data (M-6). Of two contradicting options, the later one wins.
MountOptionUse apply_mount_option(Mount& mount, std::string_view option);

/// All option names that apply_mount_option() knows, sorted: `mountOptions` of the features command
/// (F-5).
std::vector<std::string_view> known_mount_options();

}  // namespace ocirun::linux
