#pragma once

#include <string>

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// The pid in a file that another program has written at `path`. Errors: ENOENT; a file without a
/// pid.
Result<int> read_pid_file(const std::string& path);

}  // namespace ocirun::pods
