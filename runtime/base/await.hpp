#pragma once

#include <chrono>
#include <functional>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

inline constexpr std::chrono::seconds kSilence{10};

/// Asked after each kSilence of a wait, with the time so far: warns, or ends the wait with an
/// error that says what did not come.
using OnSilence = std::function<Result<void>(std::chrono::seconds)>;

/// Whether to speak of a silence. Init tells of its own hooks that last, every kSilence too: where
/// it may run some, the first silence is left to it.
constexpr bool is_ours_to_tell(bool init_may_run_hooks, std::chrono::seconds so_far) {
  return !init_may_run_hooks || so_far > kSilence;
}

/// Waits until `fd` is readable, or `end`, which may be -1. Nothing that a container does keeps a
/// command here against a signal. Errors: EINTR, "stopped by signal 15"; on_silence's.
Result<void> await_word(Fd fd, Fd end, const OnSilence& on_silence);

}  // namespace ocirun::runtime
