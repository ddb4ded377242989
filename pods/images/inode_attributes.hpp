#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/images/tar_reader.hpp"

namespace ocirun::pods {

/// Whether an extended attribute belongs to overlayfs itself.
bool is_overlay_attribute(std::string_view name);

/// Sets owner, mode and extended attributes of an open inode, in this order, because chown(2)
/// clears set-user-id bits and file capabilities. O_PATH descriptors of nodes and symlinks are
/// accepted; the mode of a symlink stays. Errors: a uid or gid outside of 0 to 2^32-2; an attribute
/// of overlayfs; what the kernel refuses.
Result<void> set_attributes(Fd inode, const TarEntry& entry);

}  // namespace ocirun::pods
