#pragma once

#include "cgroups/container/record.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// Checks that process `pid` is in the container's cgroup or below, in each hierarchy of `record`.
/// Errors: a sentence that names the cgroup of the process.
Result<void> compare_cgroups(const cgroups::Record& record, const linux::Procfs& procfs, int pid);

/// Checks that the root of the cgroup namespace of `init` is the container's cgroup, in each
/// hierarchy of `record`: a root above would show cgroups of others. `init` is in the container's
/// cgroup or below. Errors: a sentence that names the hierarchy.
Result<void> compare_cgroup_root(const cgroups::Record& record, const linux::Procfs& procfs,
                                 int init);

}  // namespace ocirun::runtime
