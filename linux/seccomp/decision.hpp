#pragma once

#include <cstdint>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/seccomp/condition.hpp"
#include "linux/seccomp/prepare.hpp"

namespace ocirun::linux {

/// What a filter answers to a call that meets the conditions.
struct ConditionalAnswer {
  Conditions conditions;
  std::uint32_t answer = 0;

  bool operator==(const ConditionalAnswer&) const = default;
};

/// What a filter does with a system call.
struct Decision {
  std::uint32_t answer = 0;  // SECCOMP_RET_*, where no condition is met
  /// Two entries that one call can meet have the same answer: their order does not matter.
  std::vector<ConditionalAnswer> conditional;
  /// libseccomp's own filter decides; the other members are unused.
  bool left_to_libseccomp = false;

  bool operator==(const Decision&) const = default;
};

Decision always(std::uint32_t answer);

/// The decision for the system call numbers from `first` to `last` inclusive.
struct Interval {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  Decision decision;
};

/// The decisions for all system calls of one architecture.
struct Decisions {
  std::vector<Interval> calls;         // one for each number that the profile names, sorted
  Decision unnamed;                    // for all other numbers; may be left to libseccomp too
  PreparedProfile left_to_libseccomp;  // the rules for the calls that are left to it
};

/// Finds the numbers of the calls on `architecture` (SCMP_ARCH_*); skips calls that the
/// architecture lacks. As in libseccomp, a rule with the default action has no effect, and the
/// first rule without conditions overrides all other rules for the call.
///
/// Two kinds of calls are left to libseccomp: calls with two rules that give different answers to
/// the same arguments, and calls that the architecture has behind socketcall(2) or ipc(2), of which
/// libseccomp alone knows both ways to call them.
///
/// An error names the second of two rules with the same conditions and different answers.
Result<Decisions> decide(std::uint32_t architecture, const PreparedProfile& profile);

}  // namespace ocirun::linux
