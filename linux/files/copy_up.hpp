#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// The properties of the top directory that the mount's options have set (mode=, uid=, gid=).
/// copy_up() does not copy them.
struct CopyUpKeeps {
  bool mode = false;
  bool uid = false;
  bool gid = false;
};

/// Copies everything below the directory `from` into `to` (tmpcopyup): files, directories,
/// symlinks, fifos and devices with mode and owner, files and directories also with their times.
/// The mode and owner of `from` itself are copied, except for the properties that `keeps` names. No
/// symlink is followed. Errors: ENOSPC …; more than 128 levels.
Result<void> copy_up(Fd from, Fd to, CopyUpKeeps keeps = {});

}  // namespace ocirun::linux
