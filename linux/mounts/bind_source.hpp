#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/options.hpp"

namespace ocirun::linux {

/// Opens the source of a bind (O_PATH) as the caller's mount namespace has it. A source whose path
/// lies below the root filesystem (Mount::source_root) has to lie there itself: a symlink of the
/// image's or of a volume's must not choose a file of the host. Errors: open(2)'s; ENOENT for a
/// source that a symlink leads elsewhere.
Result<UniqueFd> open_bind_source(const Procfs& procfs, const Mount& mount);

/// Whether the file behind `descriptor` lies below the directory behind `top`, or is that one.
Result<bool> lies_below(const Procfs& procfs, Fd descriptor, Fd top);

}  // namespace ocirun::linux
