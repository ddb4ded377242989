#pragma once

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::pods {

/// Makes a file on the filesystem of `directory` that only the descriptor refers to, open for
/// reading and writing: whatever happens to the process, the file does not outlive it. Errors:
/// ENOENT, EACCES … for the directory.
Result<UniqueFd> make_unnamed_file(const HostPath& directory);

}  // namespace ocirun::pods
