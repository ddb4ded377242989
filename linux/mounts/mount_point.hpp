#pragma once

#include <string>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/options.hpp"

namespace ocirun::linux {

/// A place below the root where a mount is made: resolved once, inside the root, and held.
struct MountPoint {
  const SafeDir& root;
  const Procfs& procfs;
  RootfsPath path;
  UniqueFd target;       // O_PATH
  bool created = false;  // it did not exist before
};

/// Opens the destination of `mount`, making a directory, or a file where `source` (a bind's; -1
/// for none) is no directory, if it is missing (M-2, M-11). Errors: a procfs or sysfs on something
/// else than a real directory (M-10); anything but the few allowed mounts on /proc or in it (M-9).
Result<MountPoint> open_mount_point(const SafeDir& root, const Procfs& procfs, const Mount& mount,
                                    Fd source);

/// `path` as text: absolute, without ".", "..", double or trailing slashes. For comparing; never
/// for opening.
std::string clean_path(const std::string& path);

}  // namespace ocirun::linux
