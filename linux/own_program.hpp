#pragma once

#include <string>
#include <string_view>

#include "linux/error.hpp"

namespace ocirun::linux {

/// Where one of ocirun's other programs is: beside the runtime as in a build folder, else in the
/// libexec/ocirun of the prefix that the runtime lies in, else in the one of the build. Errors: all
/// places are named.
Result<std::string> find_own_program(std::string_view name);

}  // namespace ocirun::linux
