#include "linux/mounts/options.hpp"

#include <linux/mount.h>

#include <algorithm>
#include <iterator>

namespace ocirun::linux {
namespace {

using Bits = std::uint64_t;

void nothing(Mount& /*mount*/, Bits /*bits*/) {}

void set_bits(MountAttributes& attributes, Bits bits) {
  attributes.set |= bits;
  attributes.clear &= ~bits;
}
void clear_bits(MountAttributes& attributes, Bits bits) {
  attributes.set &= ~bits;
  attributes.clear |= bits;
}
void set_atime_mode(MountAttributes& attributes, Bits mode) {
  attributes.set = (attributes.set & ~Bits{MOUNT_ATTR__ATIME}) | mode;
  attributes.clear |= MOUNT_ATTR__ATIME;
}
/// Applies the negation of an atime mode. If an earlier option set another mode, that mode remains.
/// Otherwise the mode becomes relatime, the kernel's default. "norelatime" can only undo an earlier
/// "relatime", because the kernel has no such mode.
void unset_atime_mode(MountAttributes& attributes, Bits mode) {
  const bool asked = (attributes.clear & MOUNT_ATTR__ATIME) != 0;
  const Bits present = attributes.set & MOUNT_ATTR__ATIME;
  if (mode == MOUNT_ATTR_RELATIME) {
    if (asked && present == mode) attributes.clear &= ~Bits{MOUNT_ATTR__ATIME};
  } else if (!asked || present == mode) {
    set_atime_mode(attributes, MOUNT_ATTR_RELATIME);
  }
}

void set(Mount& mount, Bits bits) { set_bits(mount.attributes, bits); }
void clear(Mount& mount, Bits bits) { clear_bits(mount.attributes, bits); }
void atime_mode(Mount& mount, Bits mode) { set_atime_mode(mount.attributes, mode); }
void no_atime_mode(Mount& mount, Bits mode) { unset_atime_mode(mount.attributes, mode); }

void set_below(Mount& mount, Bits bits) { set_bits(mount.recursive_attributes, bits); }
void clear_below(Mount& mount, Bits bits) { clear_bits(mount.recursive_attributes, bits); }
void atime_mode_below(Mount& mount, Bits mode) { set_atime_mode(mount.recursive_attributes, mode); }
void no_atime_mode_below(Mount& mount, Bits mode) {
  unset_atime_mode(mount.recursive_attributes, mode);
}

void superblock(Mount& mount, Bits flag) {
  mount.superblock_flags |= flag;
  mount.superblock_clear &= ~flag;
}
void no_superblock(Mount& mount, Bits flag) {
  mount.superblock_flags &= ~flag;
  mount.superblock_clear |= flag;
}

void set_bind(Mount& mount, Bits /*bits*/) { mount.bind = true; }
void recursive_bind(Mount& mount, Bits /*bits*/) { mount.bind = mount.recursive = true; }
void set_remount(Mount& mount, Bits /*bits*/) { mount.remount = true; }
void set_copy_up(Mount& mount, Bits /*bits*/) { mount.copy_up = true; }
void id_map(Mount& mount, Bits kind) { mount.id_map_kind = static_cast<IdMapKind>(kind); }

void propagation(Mount& mount, Bits kind) {
  mount.propagation = static_cast<Propagation>(kind);
  mount.propagation_recursive = false;
}
void propagation_below(Mount& mount, Bits kind) {
  mount.propagation = static_cast<Propagation>(kind);
  mount.propagation_recursive = true;
}

constexpr Bits bits_of(auto value) { return static_cast<Bits>(value); }

struct Option {
  std::string_view name;
  void (*apply)(Mount& mount, Bits bits);
  Bits bits = 0;
};

// The options of config.md's table, rnodev (in features.md only) and runc's tmpcopyup; sorted by
// name.
constexpr Option kOptions[] = {
    {"async", no_superblock, MS_SYNCHRONOUS},
    {"atime", no_atime_mode, MOUNT_ATTR_NOATIME},
    {"bind", set_bind},
    {"defaults", nothing},
    {"dev", clear, MOUNT_ATTR_NODEV},
    {"diratime", clear, MOUNT_ATTR_NODIRATIME},
    {"dirsync", superblock, MS_DIRSYNC},
    {"exec", clear, MOUNT_ATTR_NOEXEC},
    {"idmap", id_map, bits_of(IdMapKind::kMount)},
    {"iversion", superblock, MS_I_VERSION},
    {"lazytime", superblock, MS_LAZYTIME},
    {"loud", no_superblock, MS_SILENT},
    {"mand", superblock, MS_MANDLOCK},
    {"noatime", atime_mode, MOUNT_ATTR_NOATIME},
    {"nodev", set, MOUNT_ATTR_NODEV},
    {"nodiratime", set, MOUNT_ATTR_NODIRATIME},
    {"noexec", set, MOUNT_ATTR_NOEXEC},
    {"noiversion", no_superblock, MS_I_VERSION},
    {"nolazytime", no_superblock, MS_LAZYTIME},
    {"nomand", no_superblock, MS_MANDLOCK},
    {"norelatime", no_atime_mode, MOUNT_ATTR_RELATIME},
    {"nostrictatime", no_atime_mode, MOUNT_ATTR_STRICTATIME},
    {"nosuid", set, MOUNT_ATTR_NOSUID},
    {"nosymfollow", set, MOUNT_ATTR_NOSYMFOLLOW},
    {"private", propagation, bits_of(Propagation::kPrivate)},
    {"ratime", no_atime_mode_below, MOUNT_ATTR_NOATIME},
    {"rbind", recursive_bind},
    {"rdev", clear_below, MOUNT_ATTR_NODEV},
    {"rdiratime", clear_below, MOUNT_ATTR_NODIRATIME},
    {"relatime", atime_mode, MOUNT_ATTR_RELATIME},
    {"remount", set_remount},
    {"rexec", clear_below, MOUNT_ATTR_NOEXEC},
    {"ridmap", id_map, bits_of(IdMapKind::kRecursive)},
    {"rnoatime", atime_mode_below, MOUNT_ATTR_NOATIME},
    {"rnodev", set_below, MOUNT_ATTR_NODEV},
    {"rnodiratime", set_below, MOUNT_ATTR_NODIRATIME},
    {"rnoexec", set_below, MOUNT_ATTR_NOEXEC},
    {"rnorelatime", no_atime_mode_below, MOUNT_ATTR_RELATIME},
    {"rnostrictatime", no_atime_mode_below, MOUNT_ATTR_STRICTATIME},
    {"rnosuid", set_below, MOUNT_ATTR_NOSUID},
    {"rnosymfollow", set_below, MOUNT_ATTR_NOSYMFOLLOW},
    {"ro", set, MOUNT_ATTR_RDONLY},
    {"rprivate", propagation_below, bits_of(Propagation::kPrivate)},
    {"rrelatime", atime_mode_below, MOUNT_ATTR_RELATIME},
    {"rro", set_below, MOUNT_ATTR_RDONLY},
    {"rrw", clear_below, MOUNT_ATTR_RDONLY},
    {"rshared", propagation_below, bits_of(Propagation::kShared)},
    {"rslave", propagation_below, bits_of(Propagation::kSlave)},
    {"rstrictatime", atime_mode_below, MOUNT_ATTR_STRICTATIME},
    {"rsuid", clear_below, MOUNT_ATTR_NOSUID},
    {"rsymfollow", clear_below, MOUNT_ATTR_NOSYMFOLLOW},
    {"runbindable", propagation_below, bits_of(Propagation::kUnbindable)},
    {"rw", clear, MOUNT_ATTR_RDONLY},
    {"shared", propagation, bits_of(Propagation::kShared)},
    {"silent", superblock, MS_SILENT},
    {"slave", propagation, bits_of(Propagation::kSlave)},
    {"strictatime", atime_mode, MOUNT_ATTR_STRICTATIME},
    {"suid", clear, MOUNT_ATTR_NOSUID},
    {"symfollow", clear, MOUNT_ATTR_NOSYMFOLLOW},
    {"sync", superblock, MS_SYNCHRONOUS},
    {"tmpcopyup", set_copy_up},
    {"unbindable", propagation, bits_of(Propagation::kUnbindable)},
};
static_assert(std::ranges::is_sorted(kOptions, {}, &Option::name));

}  // namespace

MountOptionUse apply_mount_option(Mount& mount, std::string_view option) {
  const auto found = std::ranges::lower_bound(kOptions, option, {}, &Option::name);
  if (found != std::end(kOptions) && found->name == option) {
    found->apply(mount, found->bits);
    return MountOptionUse::kApplied;
  }
  if (!option.empty()) mount.data.emplace_back(option);
  return MountOptionUse::kFilesystemData;
}

std::vector<std::string_view> known_mount_options() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kOptions));
  for (const Option& option : kOptions) names.push_back(option.name);
  return names;
}

}  // namespace ocirun::linux
