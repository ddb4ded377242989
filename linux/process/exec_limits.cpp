#include "linux/process/exec_limits.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace ocirun::linux {

// fs/exec.c: MAX_ARG_STRLEN, and bprm_stack_limits() since Linux 4.13.
ExecLimits ExecLimits::here() {
  constexpr std::size_t kLeast = std::size_t{128} << 10, kMost = std::size_t{6} << 20;
  rlimit stack{};
  const bool is_known = ::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
  const rlim_t quarter = is_known ? stack.rlim_cur / 4 : rlim_t{kMost};
  return {.string = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) * 32 - 1,
          .all = static_cast<std::size_t>(std::clamp<rlim_t>(quarter, kLeast, kMost))};
}

}  // namespace ocirun::linux
