#pragma once

#include "runtime/cli/command.hpp"

namespace ocirun::runtime::cli {

// The commands. Each returns the exit status.
Result<int> run_checkpoint(const Invocation&);
Result<int> run_restore(const Invocation&);

}  // namespace ocirun::runtime::cli
