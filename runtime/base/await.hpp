#pragma once

#include <chrono>
#include <functional>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

inline constexpr std::chrono::seconds kSilence{10};

/// Called after each kSilence of a wait, with the time waited so far. Success: the wait goes on,
/// perhaps after a warning. An error ends the wait and says what did not come.
using OnSilence = std::function<Result<void>(std::chrono::seconds)>;

/// Whether the waiting command should warn. Init itself reports a hook of its own that lasts, also
/// every kSilence: where init may run hooks, the first silence is left to init's report.
constexpr bool is_ours_to_tell(bool init_may_run_hooks, std::chrono::seconds so_far) {
  return !init_may_run_hooks || so_far > kSilence;
}

/// Something that is done again and again during a wait. Nothing without `call`.
struct Tick {
  std::chrono::milliseconds period{};
  std::function<void()> call{};
};

/// Waits until `fd` or `end` is readable; `end` may be -1. A signal that asks this command to end
/// ends the wait, whatever the container does. Errors: EINTR, "stopped by signal 15"; the error of
/// on_silence.
Result<void> await_word(Fd fd, Fd end, const OnSilence& on_silence, const Tick& tick = {});

}  // namespace ocirun::runtime
