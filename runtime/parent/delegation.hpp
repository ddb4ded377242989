#pragma once

#include "bundle/config/config.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Gives the container's cgroup of the unified hierarchy to the container, where it has a
/// cgroup namespace of its own and config.json mounts cgroup writable at /sys/fs/cgroup. The new
/// owner of the directory, and of the files in it that /sys/kernel/cgroup/delegate lists, is the
/// host's user that the container's process runs as. The files of limits keep their owner. `cgroup`
/// is the open directory. Errors: the user is not mapped; the kernel refuses (EPERM).
Result<void> delegate_cgroup(const bundle::Config& config, const cgroups::Layout& layout,
                             Fd cgroup);

}  // namespace ocirun::runtime
