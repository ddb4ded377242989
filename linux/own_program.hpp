#pragma once

#include <string>
#include <string_view>

#include "linux/error.hpp"

namespace ocirun::linux {

/// Where one of ocirun's other programs is: beside the runtime as in a build folder, else where it
/// is installed. Errors: both places are named.
Result<std::string> find_own_program(std::string_view name);

}  // namespace ocirun::linux
