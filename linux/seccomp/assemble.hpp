#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "linux/seccomp/decision.hpp"
#include "linux/seccomp/program.hpp"

namespace ocirun::linux {

/// The answer of a filter to the system call numbers from `first` up to the next leaf's `first`,
/// exclusive.
struct Leaf {
  std::uint32_t first = 0;
  std::uint32_t answer = 0;                           // SECCOMP_RET_*; unused if there is a routine
  std::optional<std::size_t> routine = std::nullopt;  // index in `routines` of search_tree()

  bool does_the_same(const Leaf& other) const {
    return routine ? routine == other.routine : !other.routine && answer == other.answer;
  }
};

/// Instructions for a binary search for the number in the accumulator, followed by the routines.
/// `leaves` are sorted and begin with number 0. Each routine has to return on all its paths.
Program search_tree(std::span<const Leaf> leaves, std::span<const Program> routines);

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
