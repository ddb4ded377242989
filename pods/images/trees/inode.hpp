#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/images/trees/entry.hpp"

namespace ocirun::pods {

/// The name of the default ACL, which a new entry inherits from its directory.
inline constexpr std::string_view kDefaultAcl = "system.posix_acl_default";

/// Whether an extended attribute belongs to overlayfs itself.
bool is_overlay_attribute(std::string_view name);
/// Whether ocirun keeps an extended attribute of an image: "user.*", security.capability, and the
/// two ACLs. The others (labels, signatures, keys of a filesystem) belong to the machine where the
/// image was built.
bool is_kept_attribute(std::string_view name);

/// Sets the owner and the mode of `name` in `parent`, which the caller has just made. Does not
/// change the mode of a symlink. Errors: a uid or gid outside of 0 to 2^32-2.
Result<void> set_owner_and_mode(Fd parent, const char* name, const TarEntry& entry);

/// Sets the owner, the mode and the kept extended attributes of an open file or directory. It does
/// so in this order, because chown(2) clears set-user-id bits and file capabilities. The caller
/// sets kDefaultAcl of a directory. Returns how many attributes were left out. Errors: those of
/// set_owner_and_mode() and of the kernel.
Result<std::uint64_t> set_attributes(Fd inode, const TarEntry& entry);

/// Removes from an open file or directory the attributes of is_kept_attribute() that `entry` does
/// not have.
Result<void> remove_other_attributes(Fd inode, const TarEntry& entry);

/// Reads the owner, the mode, the times and the kept attributes of an open file or directory.
Result<TarEntry> describe_inode(Fd inode);

/// Copies the first `size` bytes of an open regular file to the empty open file `to`, and keeps
/// holes. The copy shares the bytes with the original where the filesystem can. Errors: the file
/// became shorter; those of reading and writing.
Result<void> copy_file_content(Fd from, Fd to, off_t size);

/// Who owns a copy. kKeep: the owner and group of the original; the caller must be root of its user
/// namespace. kCaller: the caller; chown(2) is never called.
enum class Owners : std::uint8_t { kKeep, kCaller };

struct CopyOptions {
  Owners owners = Owners::kKeep;
  DeviceNodes devices = DeviceNodes::kMake;
};

/// Copies the entry `name` of `from`, which must not be a directory, to `to`, where the name must
/// be free. The copy has the content with its holes, the owner, the extended attributes, the mode
/// and the times; it shares the content with the original where the filesystem can. `info`
/// describes the entry. Follows no symlink. Returns false, without a copy, for a socket, and for a
/// device if the options say so. After an error a part of the copy may be there.
Result<bool> copy_inode(Fd from, Fd to, const char* name, const struct stat& info,
                        const CopyOptions& options);

/// Gives the open directory `to` the owner, extended attributes, times and, last, mode of the
/// directory `from`, which `info` describes.
Result<void> copy_directory_attributes(Fd from, const struct stat& info, Fd to, Owners owners);

/// Removes all extended attributes of an open directory, also the default ACL, which new entries
/// would inherit.
Result<void> remove_attributes(Fd directory);

}  // namespace ocirun::pods
