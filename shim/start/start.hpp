#pragma once

#include "linux/base/error.hpp"
#include "shim/start/arguments.hpp"
#include "shim/start/serve.hpp"

namespace ocirun::shim {

/// `start`: finds the server of the container's group, or starts it, and prints its address on
/// standard output. The working directory is the bundle, whose file `address` gets the address,
/// too. containerd reads standard output and error as one text up to their ends, so that the server
/// keeps neither open, and nothing is written to standard error before success. After an error no
/// server is left, and nothing was printed unless the answer itself could not be written. `work` is
/// what the server does.
Result<void> start(const Arguments& arguments, ServerWork work = serve);

}  // namespace ocirun::shim
