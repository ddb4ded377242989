#pragma once

#include <string>

#include "linux/base/error.hpp"

namespace ocirun::shim {

/// The text for -v: the name, the version and the commit of this program.
std::string version_text();

/// `-info`: reads the options of a runtime as an Any from standard input, and prints a RuntimeInfo:
/// name and version of this program, the options, and the JSON that `RUNTIME features` prints. The
/// JSON is left out if the command fails or prints more than 1 MiB. Errors: those of
/// parse_options() and find_runtime().
Result<void> print_information();

}  // namespace ocirun::shim
