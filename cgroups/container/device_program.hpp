#pragma once

#include <linux/bpf.h>

#include <span>
#include <vector>

#include "cgroups/plan/resources.hpp"
#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// A BPF_PROG_TYPE_CGROUP_DEVICE program for `rules` and the default rules. Each requested access
/// (read, write, mknod) is decided by the last rule that matches it. Errors: E2BIG if a
/// jump would pass more than 32767 instructions, the most that an instruction can express.
Result<std::vector<bpf_insn>> device_program(std::span<const DeviceRule> rules);

}  // namespace ocirun::cgroups
