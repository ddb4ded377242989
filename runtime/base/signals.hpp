#pragma once

#include <chrono>
#include <csignal>
#include <functional>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// The signals of `create`, `run` and `exec`: blocked from their beginning, and read from a
/// descriptor that each wait polls as well. A container's process gets an empty mask before execve.
class Signals {
 public:
  /// Blocks all signals but SIGKILL, SIGSTOP, those of faults, and a SIGHUP that the caller has
  /// made ignored (nohup). To be called once in a process.
  static Result<void> capture();
  static Fd descriptor();
  /// Takes pending signals up to the next one that asks this command to end (SIGHUP, SIGINT,
  /// SIGTERM, SIGQUIT), and returns the number of that signal, or 0.
  static int take();
  /// Takes the next pending signal of any number, or returns 0.
  static int take_any();
  /// Unblocks the signal: it then acts at once, and does not arrive at descriptor().
  static void unblock(int signal);
  /// Blocks the signal again.
  static void block(int signal);
  /// Lets a signal that was taken have its effect, as if it had not been blocked. Returns, if at
  /// all, after the SIGCONT that ends a stop.
  static void obey(int signal);
  /// Takes pending signals as take() does. Error: EINTR, "stopped by signal 15", if take() returns
  /// a signal.
  static Result<void> check();
  /// Whether check() would return an error. Takes nothing.
  static bool is_pending();
  /// The first signal that check() returned an error for, or 0. The command exits with 128 + N.
  static int ended_by();
};

/// Holds back the signals that would end this process between two changes, until all changes are
/// made or undone. For commands that do not call Signals::capture().
class SignalsWait {
 public:
  SignalsWait();
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  ~SignalsWait();

 private:
  sigset_t before_{};
};

inline constexpr std::chrono::seconds kSilence{10};

/// Called after each kSilence of a wait, with the time waited so far. If it succeeds, perhaps after
/// a warning, the wait goes on. An error ends the wait and says what did not come.
using OnSilence = std::function<Result<void>(std::chrono::seconds)>;

/// Whether the waiting command should warn of a silence of `so_far`. Init reports a hook that it
/// runs, and that lasts, every kSilence as well. So if init may run hooks, the command does not
/// warn of the first silence.
constexpr bool should_warn_of_silence(bool init_may_run_hooks, std::chrono::seconds so_far) {
  return !init_may_run_hooks || so_far > kSilence;
}

/// An action that is repeated during a wait. Without `call`, nothing is done.
struct Tick {
  std::chrono::milliseconds period{};
  std::function<void()> call{};
};

/// The descriptor that ended a wait: `fd` or `end` of await_word().
enum class Heard { kWord, kEnd };
/// Waits until `fd` or `end` is readable; `end` may be -1. Returns kWord if both are. A signal that
/// asks this command to end ends the wait, whatever the container does. Errors: EINTR, "stopped by
/// signal 15"; the error of on_silence.
Result<Heard> await_word(Fd fd, Fd end, const OnSilence& on_silence, const Tick& tick = {});

}  // namespace ocirun::runtime
