#pragma once

#include "cgroups/container/cgroup.hpp"
#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// Moves process `pid`, which has a single thread, into every cgroup of `handles`. A move takes
/// longer than a clone into the cgroup or a thread's own write to `tasks`: the kernel waits for an
/// RCU grace period. Errors: EAGAIN, as of fork(2), where pids.max of one of these cgroups, or of a
/// cgroup above, does not allow this process; the caller then ends the process.
Result<void> join_late(const Cgroup::JoinHandles& handles, int pid);

}  // namespace ocirun::cgroups
