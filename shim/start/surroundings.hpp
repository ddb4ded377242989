#pragma once

#include <string>

#include "linux/base/error.hpp"

namespace ocirun::shim {

// What a server inherits from the process that forks it.

/// Sets the OOM score adjustment of this process to containerd's, which it has inherited, plus one,
/// at most 1000: the kernel ends a server before containerd.
Result<void> raise_oom_score();

/// Moves this process into the cgroup `path` of each hierarchy that has such a cgroup. "": does
/// nothing. Errors: a ".." in the path; no hierarchy has the cgroup.
Result<void> join_shim_cgroup(const std::string& path);

/// Gives this process, and the processes that it forks, a core scheduling cookie of their own, if
/// the variable SCHED_CORE is set and not empty: no other process then runs on the same core at the
/// same time (Linux 5.14). Errors: EINVAL before Linux 5.14; ENODEV: the processors have one thread
/// for each core.
Result<void> separate_cores();

}  // namespace ocirun::shim
