#pragma once

#include <sys/stat.h>

#include <cstdint>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/images/layer.hpp"

namespace ocirun::pods {

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
