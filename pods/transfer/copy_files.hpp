#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "linux/base/error.hpp"
#include "linux/base/ids.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::pods {

/// One of the two sides of a copy: opens a path with flags of open(2). On the side of a container
/// it must not leave the root of the container.
using PathOpener = std::function<Result<UniqueFd>(const std::string& path, int flags)>;

/// What is copied.
struct CopySource {
  UniqueFd entry;    // O_PATH, never of a followed symlink
  std::string name;  // the last component of the path; "" for "/", and if that is "." or ".."
  std::string path;  // for messages
};
/// Opens a source. A symlink at the end of the path is the source itself.
Result<CopySource> open_copy_source(const PathOpener& open, const std::string& path);

/// Where the copy goes.
struct CopyTarget {
  UniqueFd directory;  // O_PATH
  std::string name;    // of the copy; "": the content of the source goes into `directory`
  std::string path;    // for messages
};
/// Opens a target: an existing directory gets the source under its name, or the content of a source
/// without a name; otherwise `path` is the copy itself, and its parent must exist. Errors: the
/// parent does not exist; a file is to become "NAME/".
Result<CopyTarget> open_copy_target(const PathOpener& open, const std::string& path,
                                    const CopySource& source);

struct CopyRules {
  /// The owner of the copies; nothing: the caller.
  std::optional<std::pair<Uid, Gid>> owner;
  /// Is told each entry that is left out, with the reason.
  std::function<void(const std::string& sentence)> warn;
};

/// Copies a file, a symlink, or a directory with everything below it. One side, or both, may belong
/// to a program that changes it meanwhile:
/// - No symlink is followed below the source and the target. Every entry is opened by its name in
///   an open directory, and a file is opened for reading only after its type is known.
/// - Devices, FIFOs, sockets and filesystems by which the kernel is configured (proc, sysfs,
///   cgroups …) are neither read nor written. A directory is copied without them.
/// - A file gets its name when it is complete. It replaces a file or symlink of that name.
/// The copies have the permissions without set-user-id and set-group-id bits, and the times of the
/// last access and the last change. A directory that is there already keeps its own. Extended
/// attributes are not copied. Hard links become files of their own. Errors: what is in the way is
/// no file, or no directory; more than 200 levels; a directory would be copied into itself.
Result<void> copy_files(const CopySource& source, const CopyTarget& target, const CopyRules& rules);

}  // namespace ocirun::pods
