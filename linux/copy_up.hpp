#pragma once

#include "linux/error.hpp"
#include "linux/unique_fd.hpp"

namespace ocirun::linux {

/// Copies all below the directory `from` into `to`: files, directories, symlinks, fifos and devices
/// with mode and owner, the first two with their time, and the mode and owner of `from` itself
/// (tmpcopyup). Nothing is followed, whatever an image put there. Errors: ENOSPC …; more than 128
/// levels.
Result<void> copy_up(Fd from, Fd to);

}  // namespace ocirun::linux
