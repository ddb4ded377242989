#pragma once

#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::pods {

/// The name of a container's log: NAME.log for `age` 0, NAME.log.1 for the youngest rotated file …
std::string log_file_name(const std::string& name, unsigned age);

/// Opens a file of a log, never through a symlink. `flags` as for open(2); O_CREAT makes it with
/// mode 0600. Errors: ENOENT; the file is not a regular file.
Result<UniqueFd> open_log_file(Fd directory, const std::string& file, int flags);

}  // namespace ocirun::pods
