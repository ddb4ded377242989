#pragma once

#include <linux/bpf.h>

#include <span>
#include <vector>

#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/plan/resources.hpp"

namespace ocirun::cgroups {

/// A BPF_PROG_TYPE_CGROUP_DEVICE program for `rules` and the default ones: for each of read, write
/// and mknod that is asked for, the last rule that matches decides.
std::vector<bpf_insn> device_program(std::span<const DeviceRule> rules);

/// v2: loads it and attaches it to the cgroup, in the place of one that is attached already (in one
/// step, so there is no moment without rules). It goes away with the cgroup. Errors: EPERM without
/// CAP_BPF (CAP_SYS_ADMIN before 5.8), EINVAL from a kernel without CONFIG_CGROUP_BPF.
Result<void> attach_device_program(const Directory& cgroup, std::span<const DeviceRule> rules);

}  // namespace ocirun::cgroups
