#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// The path of one of ocirun's other programs. It is searched for beside the runtime (as in a build
/// folder), in libexec/ocirun of the prefix that the runtime is installed in, and in libexec/ocirun
/// of the prefix of the build. Errors name all these places.
Result<std::string> find_own_program(std::string_view name);

/// An error in the format in which ocirun's other programs report errors: the errno, then a line
/// for each frame.
std::string error_lines(const Error& error);
/// Parses a text of error_lines(). `what` is used as the frame of an error that has none.
Error parse_error_lines(std::string_view text, std::string_view what);

}  // namespace ocirun::linux
