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

/// The system calls that are newer than the profile, so that its author could not list them. The
/// filter answers ENOSYS to them (S-11), as an older kernel does: libc then uses an older call. To
/// the EPERM of a default action libc does not react so: programs broke when glibc began to call
/// clone3 and faccessat2.
///
/// A new call gets the next free number. So the newer calls are those with a number above all in
/// `named`, the calls of the profile as numbers of `architecture` (SCMP_ARCH_*). A call up to
/// seccomp(2) (Linux 3.17) is never newer: a profile without it leaves it out on purpose. Empty if
/// the profile names no call, or if its default action allows calls or answers ENOSYS itself.
std::vector<Interval> newer_syscalls(const SeccompProfile& profile, std::uint32_t architecture,
                                     std::span<const Interval> named);

}  // namespace ocirun::linux
