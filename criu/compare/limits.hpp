#pragma once

#include <cstdint>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

// What a process may use. Values that config.json does not name, and those that a capability of
// the document lets a process change, are not compared. Errors: a sentence that names what differs.

/// No hard limit is above that of /process/rlimits, and the OOM score is not below
/// /process/oomScoreAdj.
Result<void> compare_limits(const bundle::Config& config, const linux::Procfs& procfs, int pid);

/// The real-time priority and the nice value of the thread are what the document gives or lets a
/// process take.
Result<void> compare_scheduling(const bundle::Config& config, int thread);
/// The highest real-time priority, 1 to 99, that a thread may have under `policy` (SCHED_*). 0: the
/// policy is not allowed, or has no priorities. SCHED_DEADLINE that is allowed has 99.
std::uint64_t highest_priority(const bundle::Config& config, std::uint32_t policy);
/// The lowest nice value, -20 to 19, that a thread may have.
int lowest_nice(const bundle::Config& config);

}  // namespace ocirun::runtime
