#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/options.hpp"

namespace ocirun::linux {

/// Opens the source of a bind mount (O_PATH) in the caller's mount namespace. A source whose path
/// lies below the root filesystem (Mount::source_root) must also resolve to a file below it: a
/// symlink of an image or a volume must not choose a file of the host. Errors: those of open(2);
/// ENOENT for a source that a symlink leads out of the root filesystem.
Result<UniqueFd> open_bind_source(const Procfs& procfs, const Mount& mount);

/// Whether the file behind `descriptor` lies below the directory behind `top`, or is that
/// directory.
Result<bool> lies_below(const Procfs& procfs, Fd descriptor, Fd top);

}  // namespace ocirun::linux
