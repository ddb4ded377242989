#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/images/layer.hpp"

namespace ocirun::pods {

/// The ACL that a directory hands on to what is made in it.
inline constexpr std::string_view kDefaultAcl = "system.posix_acl_default";

/// Whether an extended attribute belongs to overlayfs itself.
bool is_overlay_attribute(std::string_view name);
/// Whether an extended attribute of an image is kept: "user.*", security.capability, the two ACLs.
/// Others belong to the machine where the image was built: labels, signatures, keys of a
/// filesystem.
bool is_kept_attribute(std::string_view name);

/// Sets owner and mode of `name` in `parent`, a new entry of the caller's; the mode of a symlink
/// stays. Errors: a uid or gid outside of 0 to 2^32-2.
Result<void> set_owner_and_mode(Fd parent, const char* name, const TarEntry& entry);

/// Sets owner, mode and the extended attributes that are kept of an open file or directory, in this
/// order, because chown(2) clears set-user-id bits and file capabilities. kDefaultAcl of a
/// directory is left to the caller. Returns how many attributes were left out. Errors: those of
/// set_owner_and_mode(); what the kernel refuses.
Result<std::uint64_t> set_attributes(Fd inode, const TarEntry& entry);

/// Removes those of the kept attributes that `entry` does not have.
Result<void> remove_other_attributes(Fd inode, const TarEntry& entry);

/// Owner, mode, times and kept attributes of an open file or directory.
Result<TarEntry> describe_inode(Fd inode);

/// kKeep: a copy has the owner and group of its original, for which the caller must be root of its
/// user namespace. kCaller: everything belongs to the caller, and chown(2) is never called.
enum class Owners : std::uint8_t { kKeep, kCaller };

struct CopyOptions {
  Owners owners = Owners::kKeep;
  DeviceNodes devices = DeviceNodes::kMake;
};

/// Copies the entry `name` of `from`, which is no directory, to the free name `name` in `to`:
/// content with its holes (shared with the original where the filesystem can), owner, extended
/// attributes, mode and times. `info` describes the entry. Returns whether the copy was made: a
/// socket is left out, and a device if the options say so. No symlink is followed. On error a part
/// of the copy may be there.
Result<bool> copy_inode(Fd from, Fd to, const char* name, const struct stat& info,
                        const CopyOptions& options);

/// Gives the open directory `to` the owner, extended attributes, times and, last, mode of the
/// directory `from`, which `info` describes.
Result<void> copy_directory_attributes(Fd from, const struct stat& info, Fd to, Owners owners);

/// Removes the extended attributes of an open directory, such as an ACL that entries made in the
/// directory would inherit.
Result<void> remove_attributes(Fd directory);

}  // namespace ocirun::pods
