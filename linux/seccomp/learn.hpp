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

/// A filter that hands each call that `filter` allows to a listener; other answers stay. write(2)
/// stays allowed if `filter` allows it, because init sends by write(2) under such a filter.
SeccompFilter learning_filter(SeccompFilter filter);

struct UsedCall {
  std::uint32_t architecture = 0;  // AUDIT_ARCH_*, as in SCMP_ARCH_*
  std::int32_t number = 0;
  auto operator<=>(const UsedCall&) const = default;
};

/// Notes each call at `listener`, and lets it go on. Returns when no process is under the filter
/// any more (Linux 5.8), or one second after `stop` became readable.
std::set<UsedCall> note_calls(Fd listener, Fd stop);

/// The names of the calls, and in `unknown` those that libseccomp has no name for.
std::set<std::string> names_of(const std::set<UsedCall>& calls, std::vector<std::string>& unknown);

}  // namespace ocirun::linux
