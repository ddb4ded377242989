#pragma once

#include <string_view>

#include "linux/base/outer_filter.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/unique_fd.hpp"

// The value that a system call has returned, as a Result. A negative value stands for errno.
namespace ocirun::linux::sys {

inline Result<void> checked(long value, std::string_view what) {
  if (value < 0) return last_error(what);
  return {};
}

/// `value` is what `call` has returned, which an outer seccomp filter may refuse.
inline Result<void> allowed(long call, long value, std::string_view what) {
  if (value < 0) return failed_call(call, what);
  return {};
}

inline Result<UniqueFd> allowed_fd(long call, long value, std::string_view what) {
  if (value < 0) return failed_call(call, what);
  return UniqueFd(static_cast<int>(value));
}

}  // namespace ocirun::linux::sys
