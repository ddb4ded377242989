#pragma once

#include <sys/types.h>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::pods {

/// Opens the directory at `path`, absolute, for reading. Makes it and what is missing above it with
/// mode 0700.
Result<UniqueFd> open_or_make_directory(const HostPath& path);
/// Opens the directory `name` of `above` for reading, and makes it with `mode` if it is missing. A
/// symlink in its place is an error.
Result<UniqueFd> open_or_make_directory(Fd above, const char* name, mode_t mode);

/// Removes everything in `directory`, however deep, with a constant number of descriptors and in a
/// time that grows with the number of entries alone. No symlink is followed. `directory` may be
/// O_PATH; nobody else may change it meanwhile.
Result<void> remove_content(Fd directory);

/// Removes the entry `name` of `directory` and, if it is a directory, everything in it. That it is
/// absent is no error.
Result<void> remove_tree(Fd directory, const char* name);

}  // namespace ocirun::pods
