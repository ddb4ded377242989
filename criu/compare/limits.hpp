#pragma once

#include <cstdint>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

// What a process may use. Values that a capability of the document lets a process change are not
// compared. Errors: a sentence that names what differs.

/// No hard limit is above that of /process/rlimits; limits that it does not name are not compared.
/// The OOM score is not below /process/oomScoreAdj or, without it, below the lower of 0 and the
/// caller's.
Result<void> compare_limits(const bundle::Config& config, const linux::Procfs& procfs, int pid);

/// The real-time priority and the nice value of the thread are what the document gives or lets a
/// process take. Limits that it does not name are those of this process.
Result<void> compare_scheduling(const bundle::Config& config, int thread);
/// The highest real-time priority, 1 to 99, that a thread may have under `policy` (SCHED_*). 0: the
/// policy is not allowed, or has no priorities. SCHED_DEADLINE that is allowed has 99.
std::uint64_t highest_priority(const bundle::Config& config, std::uint32_t policy);
/// The lowest nice value, -20 to 19, that a thread may have.
int lowest_nice(const bundle::Config& config);

}  // namespace ocirun::runtime
