#pragma once

#include <cstdint>
#include <string>

#include "bundle/documents/state.hpp"
#include "cgroups/container/cgroup.hpp"
#include "linux/base/error.hpp"
#include "runtime/base/log.hpp"

namespace ocirun::runtime {

/// " (out of memory: …)" with the memory limit, where the OOM killer has killed a process of the
/// cgroup since Cgroup::oom_kills() was `kills_before`; otherwise "".
std::string tell_oom(const cgroups::Cgroup& cgroup, std::uint64_t kills_before);

/// Called after the program of a foreground `run` or `exec` has ended with `exit_code`. Warns if
/// the OOM killer has killed a process of the cgroup and a SIGKILL has ended the program, because
/// the exit code 137 alone names no reason.
void warn_of_oom(int exit_code, const bundle::ContainerRecord& record, std::uint64_t kills_before,
                 const Log& log);

/// Adds to `error` the limit that may be its cause. This is the memory limit if the OOM killer has
/// killed a process since Cgroup::oom_kills() was `kills_before`, or if the errno is ENOMEM and the
/// cgroup has reached the limit; the pids limit if the errno is EAGAIN.
Error name_limit(Error error, const cgroups::Cgroup& cgroup, std::uint64_t kills_before);

}  // namespace ocirun::runtime
