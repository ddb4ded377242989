#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/namespaces/id_map.hpp"

namespace ocirun::linux {

/// Where mount and umount events go: mount_namespaces(7). kUnchanged leaves what the mount has.
enum class Propagation : std::uint8_t { kUnchanged, kShared, kSlave, kPrivate, kUnbindable };

/// Attributes for mount_setattr(2) (MOUNT_ATTR_*). The atime modes are an enum, not bits: whoever
/// changes one puts MOUNT_ATTR__ATIME into `clear`.
struct MountAttributes {
  std::uint64_t set = 0;
  std::uint64_t clear = 0;
  bool empty() const { return set == 0 && clear == 0; }
  friend bool operator==(const MountAttributes&, const MountAttributes&) = default;
};

enum class IdMapKind : std::uint8_t { kNone, kMount, kRecursive };  // absent, "idmap", "ridmap"

/// One entry of `mounts` (M-1 … M-16), its options read into what the kernel takes.
struct Mount {
  RootfsPath destination;
  std::string type;    // "" for a bind mount
  std::string source;  // a bind's source is absolute already (relative: joined to the bundle)
  // root.path, where the path of a bind's source lies below it; "" elsewhere.
  std::string source_root;
  bool bind = false;
  bool recursive = false;  // rbind
  bool remount = false;
  // MS_* that belong to the filesystem: sync, dirsync, mand, lazytime, silent, iversion; and the
  // same taken back: async, nomand, nolazytime, loud, noiversion.
  std::uint64_t superblock_flags = 0;
  std::uint64_t superblock_clear = 0;
  MountAttributes attributes;            // ro, nosuid, …: this mount
  MountAttributes recursive_attributes;  // rro, rnosuid, …: this mount and all below it
  Propagation propagation = Propagation::kUnchanged;
  bool propagation_recursive = false;
  bool copy_up = false;  // tmpcopyup
  IdMapKind id_map_kind = IdMapKind::kNone;
  IdMap id_map;                   // empty: the container's own user namespace
  std::vector<std::string> data;  // for the filesystem, "key=value" or "key", in order (M-6)
};

/// What became of one word of `options`.
enum class MountOptionUse { kApplied, kFilesystemData };

/// Reads one option of config.md's table into `mount`; a word that the table lacks becomes data
/// (M-6). Of two that contradict each other the later one wins.
MountOptionUse apply_mount_option(Mount& mount, std::string_view option);

/// Every option name that apply_mount_option knows, sorted: features' `mountOptions` (F-5).
std::vector<std::string_view> known_mount_options();

}  // namespace ocirun::linux
