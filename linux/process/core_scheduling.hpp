#pragma once

#include <cstdint>

#include "linux/base/error.hpp"

namespace ocirun::linux {

// Core scheduling (Linux 5.14): the threads of a processor core run only processes with the same
// cookie at the same time, so that these cannot read what others leave in the core's caches.

enum class CoreScheduling {
  kMissing,   // the kernel lacks CONFIG_SCHED_CORE
  kNeedless,  // no core has several threads
  kOff,       // the further threads are switched off, and may be switched on again
  kThere
};
CoreScheduling core_scheduling();

/// Gives the calling process a new cookie, which its later children inherit. Does nothing where no
/// core has several threads. Errors: EINVAL where the kernel lacks core scheduling.
Result<void> make_core_cookie();
/// Gives the calling process the cookie of process `pid`. Errors: as make_core_cookie(); EPERM if
/// the caller may not trace the process; ESRCH.
Result<void> take_core_cookie(int pid);
/// The cookie of process `pid`; 0: it has none. Errors: as take_core_cookie(); ENODEV where no core
/// has several threads.
Result<std::uint64_t> core_cookie_of(int pid);

}  // namespace ocirun::linux
