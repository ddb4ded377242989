#pragma once

#include <string>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"

namespace ocirun::runtime::cli {

/// Made absolute, without "." and double slashes; symlinks and ".." in it are the operator's.
/// Errors: the working directory is gone.
Result<HostPath> absolute_path(const std::string& path);

}  // namespace ocirun::runtime::cli
