#pragma once

#include "bundle/config/config.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Lets a container govern its cgroup, never on v1: when it has a cgroup namespace of its own
/// and config.json mounts cgroup writable at /sys/fs/cgroup. The directory, and those of its files
/// that /sys/kernel/cgroup/delegate lists, go to the host's user that the container's process runs
/// as; the limits stay ours. `cgroup`: the open directory in the unified hierarchy. Errors: the
/// user is not mapped; the kernel refuses (EPERM).
Result<void> delegate_cgroup(const bundle::Config& config, const cgroups::Layout& layout,
                             Fd cgroup);

}  // namespace ocirun::runtime
