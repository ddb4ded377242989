#pragma once

#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/process/spawn.hpp"

namespace ocirun::linux {

/// Runs criu with `words`, "check" or "cpuinfo check", and returns its status and its messages.
/// `program` is an absolute path. Errors: criu says nothing for kProgramSilence.
Result<ProgramEnd> ask_criu(const std::string& program, std::vector<std::string> words);

}  // namespace ocirun::linux
