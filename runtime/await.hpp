#pragma once

#include <chrono>
#include <functional>

#include "linux/error.hpp"
#include "linux/unique_fd.hpp"

namespace ocirun::runtime {

inline constexpr std::chrono::seconds kSilence{10};

/// Asked after each kSilence of a wait, with the time so far: warns, or ends the wait with an
/// error that says what did not come.
using OnSilence = std::function<Result<void>(std::chrono::seconds)>;

/// Waits until `fd` is readable, or `end`, which may be -1. Nothing that a container does keeps a
/// command here against a signal. Errors: EINTR, "stopped by signal 15"; on_silence's.
Result<void> await_word(Fd fd, Fd end, const OnSilence& on_silence);

}  // namespace ocirun::runtime
