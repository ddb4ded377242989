#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// What options of the mount (mode=, uid=, gid=) gave the top directory already.
struct CopyUpKeeps {
  bool mode = false;
  bool uid = false;
  bool gid = false;
};

/// Copies all below the directory `from` into `to`: files, directories, symlinks, fifos and devices
/// with mode and owner, the first two with their time, and the mode and owner of `from` itself as
/// far as `keeps` leaves them to it (tmpcopyup). Nothing is followed, whatever an image put there.
/// Errors: ENOSPC …; more than 128 levels.
Result<void> copy_up(Fd from, Fd to, CopyUpKeeps keeps = {});

}  // namespace ocirun::linux
