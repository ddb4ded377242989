#pragma once

#include <sys/types.h>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// Opens the directory at the absolute path `path` for reading. Makes it, and its missing parents,
/// with mode 0700.
Result<UniqueFd> open_or_make_directory(const HostPath& path);
/// Opens the directory `name` of `above` for reading, and makes it with `mode` if it is missing.
/// Errors: there is a symlink instead.
Result<UniqueFd> open_or_make_directory(Fd above, const char* name, mode_t mode);

/// Removes everything in `directory`, however deep, with a constant number of descriptors and in a
/// time that grows with the number of entries alone. No symlink is followed. `directory` may be
/// O_PATH. No other process may change the directory meanwhile.
Result<void> remove_content(Fd directory);

/// Removes the entry `name` of `directory` and, if the entry is a directory, everything in it. Does
/// nothing if there is no such entry.
Result<void> remove_tree(Fd directory, const char* name);

}  // namespace ocirun::linux
