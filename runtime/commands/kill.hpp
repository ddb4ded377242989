#pragma once

#include <cstddef>

#include "linux/base/error.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

enum class KillScope { kInit, kAll };

/// runtime.md#kill (OP-4): sends `signal` to init. With kAll, every process of the container's
/// cgroup gets the signal; also with SIGKILL if the container has no pid namespace of its own.
///
/// With kAll, and with SIGKILL while processes are left, a stopped container is no error, unless it
/// has neither a pid namespace nor a cgroup of its own. If it has its own pid namespace, all its
/// processes have ended with init, and nothing is done. Otherwise the processes that outlived init
/// in the cgroup get the signal, and their number is returned; in all other cases 0 is returned.
///
/// Errors: "container not running", which engines match. If processes outlived init, the error says
/// how many there are, and which command ends them.
Result<std::size_t> kill_container(const Container& container, int signal, KillScope scope);

}  // namespace ocirun::runtime
