#pragma once

#include <string>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"

namespace ocirun::linux {

/// Makes `path` absolute by the working directory, and removes "." and double slashes. Symbolic
/// links and ".." stay: the operator who wrote the path means them. Errors: the working directory
/// was removed.
Result<HostPath> absolute_path(const std::string& path);

}  // namespace ocirun::linux
