#pragma once

#include "linux/error.hpp"
#include "runtime/container.hpp"

namespace ocirun::runtime {

enum class KillScope { kInit, kAll };

/// runtime.md#kill (OP-4). kAll, and SIGKILL where the container has no pid namespace of its own,
/// reach every process of its cgroup, also when init is dead already. Errors: "container not
/// running", which engines match.
Result<void> kill_container(const Container& container, int signal, KillScope scope);

}  // namespace ocirun::runtime
