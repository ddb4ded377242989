#pragma once

#include <span>

#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/plan/resources.hpp"

namespace ocirun::cgroups {

/// v2: loads the program for `rules` and attaches it to the cgroup. A program that is attached
/// already is replaced in one step, so there is no moment without rules. The program goes away with
/// the cgroup. Errors: E2BIG or EFAULT, "too many rules"; EPERM without CAP_BPF (CAP_SYS_ADMIN
/// before 5.8); EINVAL from a kernel without CONFIG_CGROUP_BPF.
Result<void> attach_device_program(const Directory& cgroup, std::span<const DeviceRule> rules);

/// v2: whether the only program that is attached to the cgroup is that for `rules`, by the kernel's
/// tag, a hash of the instructions. Loads a program to compare, and attaches nothing. Errors: EPERM
/// and EINVAL as above; EPERM where a program cannot be opened.
Result<bool> has_device_program(const Directory& cgroup, std::span<const DeviceRule> rules);

}  // namespace ocirun::cgroups
