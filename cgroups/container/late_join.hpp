#pragma once

#include "cgroups/container/cgroup.hpp"
#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// Moves process `pid`, which has a single thread, into every cgroup of `handles`. Moving takes
/// longer than cloning into the cgroup, or than a thread's own write to `tasks`: the kernel waits
/// for an RCU grace period. Errors: EAGAIN, as from fork(2), where pids.max of one of these
/// cgroups, or of a cgroup above, does not allow this process. The caller then has to end the
/// process.
Result<void> join_late(const Cgroup::JoinHandles& handles, int pid);

}  // namespace ocirun::cgroups
