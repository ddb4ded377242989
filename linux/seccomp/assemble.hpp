#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linux/seccomp/decision.hpp"
#include "linux/seccomp/program.hpp"

namespace ocirun::linux {

/// A filter's decisions for one architecture (SCMP_ARCH_*).
struct ArchitectureFilter {
  std::uint32_t architecture = 0;
  std::vector<Interval> intervals;  // sorted
  std::uint32_t unnamed = 0;        // the answer for the numbers in no interval
};

/// Combines the architectures into one filter, which kills the thread of a call of any other
/// architecture, as libseccomp's filters do.
Program assemble(std::span<const ArchitectureFilter> filters);

}  // namespace ocirun::linux
