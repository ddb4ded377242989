#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Calls `act` in a child process, and returns what `act` writes to its descriptor, at most 64 MiB.
/// Kills the child after `patience`, and returns what it has written until then. A child that waits
/// for a file system may outlive the kill: it has no descriptors but `out`, `kept` and /dev/null,
/// so that nobody waits for it. Errors: no child can be made.
Result<std::string> written_within(std::chrono::milliseconds patience, std::span<const Fd> kept,
                                   const std::function<void(Fd out)>& act);

}  // namespace ocirun::runtime
