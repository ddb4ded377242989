#pragma once

#include <cstdint>
#include <string>

#include "cgroups/container/cgroup.hpp"
#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// " (out of memory: …)" with the limit that the kernel killed a process of this cgroup for; ""
/// when it has killed no more than `kills_before` (Cgroup::oom_kills()).
std::string tell_oom(const cgroups::Cgroup& cgroup, std::uint64_t kills_before);

/// The same around an error of which a want of memory may be the cause: the OOM killer came, or
/// the kernel said ENOMEM to a process in the cgroup. Names the limit on processes, too, where the
/// kernel said EAGAIN.
Error name_limit(Error error, const cgroups::Cgroup& cgroup, std::uint64_t kills_before);

}  // namespace ocirun::runtime
