#pragma once

#include <cstdint>
#include <string>

#include "bundle/documents/state.hpp"
#include "cgroups/container/cgroup.hpp"
#include "linux/base/error.hpp"
#include "runtime/base/log.hpp"

namespace ocirun::runtime {

/// " (out of memory: …)" with the limit that the kernel killed a process of this cgroup for; ""
/// when it has killed no more than `kills_before` (Cgroup::oom_kills()).
std::string tell_oom(const cgroups::Cgroup& cgroup, std::uint64_t kills_before);

/// After the program of a foreground `run` or `exec` has ended with `exit_code`: warns where the
/// OOM killer has come to the cgroup and a SIGKILL has ended the program, because 137 alone names
/// no reason.
void warn_of_oom(int exit_code, const bundle::ContainerRecord& record, std::uint64_t kills_before,
                 const Log& log);

/// The same around an error of which a want of memory may be the cause: the OOM killer came, or
/// the kernel said ENOMEM to a process in the cgroup. Names the limit on processes, too, where the
/// kernel said EAGAIN.
Error name_limit(Error error, const cgroups::Cgroup& cgroup, std::uint64_t kills_before);

}  // namespace ocirun::runtime
