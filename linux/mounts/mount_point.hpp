#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/options.hpp"

namespace ocirun::linux {

/// The file or directory below the root that a mount goes onto. Resolved once, inside the root, and
/// kept open.
struct MountPoint {
  const SafeDir& root;
  const Procfs& procfs;
  RootfsPath path;
  UniqueFd target;       // O_PATH
  bool created = false;  // open_mount_point() made it
};

/// Opens the destination of `mount`. A missing destination is made: a file if `source` (of a bind
/// mount; -1 for none) is not a directory, else a directory (M-2, M-11). Errors: a procfs or sysfs
/// on anything but a real directory (M-10); a mount on or below /proc that is not one of the few
/// allowed ones (M-9).
Result<MountPoint> open_mount_point(const SafeDir& root, const Procfs& procfs, const Mount& mount,
                                    Fd source);

/// `path` absolute, without ".", "..", double or trailing slashes. For comparing texts only, never
/// for opening.
std::string clean_path(const std::string& path);
std::string clean(const RootfsPath& path);

/// Whether `path` is `directory` or lies below it. Both are absolute and clean.
bool is_at_or_below(std::string_view path, std::string_view directory);
/// Whether `path` lies below `directory`. Both are absolute and clean.
bool is_below(std::string_view path, std::string_view directory);

/// Whether a mount on `destination` is on `path` or above it. Compares both as clean_path() gives
/// them: symlinks of the container are not followed.
bool mount_covers(const std::string& destination, const std::string& path);

}  // namespace ocirun::linux
