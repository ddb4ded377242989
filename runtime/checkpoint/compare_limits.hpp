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

/// The thread has no real-time policy, unless the document gives one or lets a process take one.
Result<void> compare_policy(const bundle::Config& config, int thread);
/// Whether a thread may have the policy (SCHED_*).
bool may_have_policy(const bundle::Config& config, std::uint32_t policy);

}  // namespace ocirun::runtime
