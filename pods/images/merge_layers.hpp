#pragma once

#include <span>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/images/inode.hpp"

namespace ocirun::pods {

// Root file systems for machines where overlayfs cannot be had. Both functions follow no symlink,
// hold at most about a hundred descriptors however deep the tree is, and hold in memory one path
// and the names of files with several links. They copy owners, modes, times, holes, hard links,
// devices, fifos, and all extended attributes but overlayfs' own and security.selinux. Sockets are
// left out. Nobody may change the trees meanwhile. The descriptors may be O_PATH.
//
// Errors, which name the file: ENOSPC …, and EPERM where the options ask for more than the caller
// may do. After an error `into` may hold a part of the copy, which the caller removes.

/// Copies the directory `from` into the empty directory `into`, which gets the attributes of
/// `from`.
Result<void> copy_tree(Fd from, Fd into, const CopyOptions& options);

/// Makes in the empty directory `into` what an overlay of `layers` (the base layer first) would
/// show: whiteouts and opaque directories are applied and not copied. Where a layer's own root
/// directory is marked as opaque, nothing of the layers below is shown, as the image-spec wants,
/// although overlayfs itself does not look at this mark. Each layer is copied over those below it,
/// so that the room of a file that a later layer replaces is taken for a while.
Result<void> merge_layers(std::span<const Fd> layers, OpaqueMark mark, Fd into,
                          const CopyOptions& options);

}  // namespace ocirun::pods
