#pragma once

#include <span>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/images/trees/inode.hpp"

namespace ocirun::pods {

// Root filesystems for machines without a usable overlayfs. Both functions follow no symlink. They
// hold at most about a hundred descriptors, however deep the tree is, and in memory only one path
// and the names of files with several links. They copy owners, modes, times, holes, hard links,
// devices, fifos, and all extended attributes except overlayfs' own and security.selinux. They
// leave out sockets. No other process may change the trees meanwhile. The descriptors may be
// O_PATH.
//
// Errors, which name the file: ENOSPC …; EPERM if the caller may not do what the options ask for.
// After an error the caller has to remove what is in `into`.

/// Copies the directory `from` into the empty directory `into`, which gets the attributes of
/// `from`.
Result<void> copy_tree(Fd from, Fd into, const CopyOptions& options);

/// Makes in the empty directory `into` what an overlay of `layers` (the base layer first) would
/// show: whiteouts and opaque directories are applied and not copied. Where a layer's own root
/// directory is marked as opaque, nothing of the layers below is shown, as the image-spec wants,
/// although overlayfs itself does not look at this mark. Each layer is copied over the layers
/// below, so that a replaced file takes space for a while.
Result<void> merge_layers(std::span<const Fd> layers, OpaqueMark mark, Fd into,
                          const CopyOptions& options);

}  // namespace ocirun::pods
