#pragma once

#include <span>
#include <string>

#include "cgroups/container/cgroup.hpp"
#include "cgroups/hierarchies/node.hpp"
#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// Opens the descriptors through which a process joins `nodes`, or the cgroups below them that
/// `paths` name (see Cgroup::open_for_join).
Result<Cgroup::JoinHandles> open_join_handles(std::span<const Node> nodes,
                                              std::span<const std::string> paths);

/// Moves process `pid`, which has a single thread, into every cgroup of `handles`. Moving takes
/// longer than cloning into the cgroup, or than a thread's own write to `tasks`: the kernel waits
/// for an RCU grace period. Errors: EAGAIN, as from fork(2), where pids.max of one of these
/// cgroups, or of a cgroup above, does not allow this process. The caller then has to end the
/// process.
Result<void> join_late(const Cgroup::JoinHandles& handles, int pid);

}  // namespace ocirun::cgroups
