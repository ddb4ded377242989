#pragma once

#include <cstddef>

#include "linux/base/error.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

enum class KillScope { kInit, kAll };

/// runtime.md#kill (OP-4). kAll, and SIGKILL where the container has no pid namespace of its own,
/// reach every process of its cgroup, also when init is dead already. Returns how many processes an
/// init that is dead had left there, 0 while init lives. Errors: "container not running", which
/// engines match, with what helps where processes are left.
Result<std::size_t> kill_container(const Container& container, int signal, KillScope scope);

}  // namespace ocirun::runtime
