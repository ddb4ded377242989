#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::linux {

// Learning which system calls a program makes: a filter hands each call to a listener, which notes
// the call and lets it go on. SECCOMP_RET_LOG would write to the log of the whole host, which drops
// lines, and which only root may read.

/// A filter that hands each call that `filter` allows or logs to a listener; other answers stay.
/// write(2) stays allowed if `filter` allows it, because init sends by write(2) under such a
/// filter. Where the kernel can (Linux 5.19), no signal interrupts a call that the listener has.
SeccompFilter learning_filter(SeccompFilter filter);

struct UsedCall {
  std::uint32_t architecture = 0;  // AUDIT_ARCH_*, as in SCMP_ARCH_*
  std::int32_t number = 0;
  auto operator<=>(const UsedCall&) const = default;
};

/// Notes each call at `listener`, and lets it go on. Returns when no process is under the filter
/// any more (Linux 5.8), or one second after `stop` became readable.
std::set<UsedCall> note_calls(Fd listener, Fd stop);

/// The calls in the words of a profile.
struct LearnedCalls {
  std::set<std::string> names;
  std::set<std::string> architectures;  // "SCMP_ARCH_X86_64"
  std::vector<std::string> unknown;     // sentences about calls that libseccomp has no name for
};
LearnedCalls in_words(const std::set<UsedCall>& calls);

}  // namespace ocirun::linux
