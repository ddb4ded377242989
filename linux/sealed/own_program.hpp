#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// Where one of ocirun's other programs is: beside the runtime as in a build folder, else in the
/// libexec/ocirun of the prefix that the runtime lies in, else in the one of the build. Errors: all
/// places are named.
Result<std::string> find_own_program(std::string_view name);

/// An error as such a program answers with it: the errno, then a line for each frame.
std::string error_lines(const Error& error);
/// And back; `what` stands for an error without a frame.
Error parse_error_lines(std::string_view text, std::string_view what);

}  // namespace ocirun::linux
