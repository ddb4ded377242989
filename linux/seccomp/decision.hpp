#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/seccomp/compile.hpp"
#include "linux/seccomp/condition.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::linux {

/// The answer of a filter to a call that meets the conditions.
struct ConditionalAnswer {
  Conditions conditions;
  std::uint32_t answer = 0;

  bool operator==(const ConditionalAnswer&) const = default;
};

/// The answers of a filter to one system call.
struct Decision {
  std::uint32_t answer = 0;  // SECCOMP_RET_*, where no condition is met
  /// The most severe answer first. A call gets the first answer whose conditions it meets.
  std::vector<ConditionalAnswer> conditional;

  bool operator==(const Decision&) const = default;
};

Decision always(std::uint32_t answer);

/// The decision for the system call numbers from `first` to `last` inclusive.
struct Interval {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  Decision decision;
};

/// Whether the kernel prefers `answer` to `other` where filters disagree (seccomp(2)): KILL_PROCESS
/// is the most severe, then KILL_THREAD, TRAP, ERRNO, NOTIFY, TRACE and LOG; ALLOW is the least.
bool is_more_severe(std::uint32_t answer, std::uint32_t other);

/// The decisions for the calls that the profile names on `architecture` (SCMP_ARCH_*): intervals of
/// one number each, sorted. All other numbers get the profile's default answer, and so do names
/// that the architecture lacks. As in libseccomp, a rule with the default action has no effect, and
/// the first rule without conditions overrides all other rules for the call. Where a call meets the
/// conditions of several rules, the most severe answer counts; a warning names the rules.
///
/// Behind socketcall(2) and ipc(2) a filter does not see the arguments of the call. There a rule
/// with conditions counts for every such call if its answer is more severe than the default, and
/// otherwise for none; a warning says so.
///
/// Errors: two rules with the same conditions and different answers; more conditions than a filter
/// can hold.
Result<std::vector<Interval>> decide(std::uint32_t architecture, const PreparedProfile& profile,
                                     std::vector<std::string>& warnings);

/// The system call numbers of `architecture` (SCMP_ARCH_*) that are newer than the profile; the
/// filter answers ENOSYS to them (S-11). The profile's author could not list such calls. A newer
/// libc tries newer calls and falls back to older ones on ENOSYS, but not on the EPERM (or the
/// kill) of a default action: glibc's clone3 and faccessat2 broke programs in this way.
///
/// Newer are the numbers above the greatest number in `named`, which are the profile's calls there,
/// and above seccomp(2), as far as the kernel assigns numbers in order. Empty when the profile
/// names no call, and when the default action lets system calls through or returns ENOSYS itself.
std::vector<Interval> newer_syscalls(const SeccompProfile& profile, std::uint32_t architecture,
                                     std::span<const Interval> named);

}  // namespace ocirun::linux
