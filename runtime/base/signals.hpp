#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// The signals of `create`, `run` and `exec`: blocked from their beginning, and read from a
/// descriptor that each wait polls as well. A container's process gets an empty mask before execve.
class Signals {
 public:
  /// Blocks all signals but SIGKILL, SIGSTOP and those of faults. To be called once in a process.
  static Result<void> capture();
  static Fd descriptor();
  /// Takes pending signals up to the next one that asks this command to end (SIGHUP, SIGINT,
  /// SIGTERM, SIGQUIT), and returns that one, or 0.
  static int take();
  /// Takes the next pending signal of any number, or returns 0.
  static int take_any();
  /// Unblocks the signal: it then acts at once, and does not arrive at descriptor().
  static void unblock(int signal);
  /// Blocks the signal again.
  static void block(int signal);
  /// Has the effect of a signal that was taken, as if it had not been blocked. Returns, if at all,
  /// after the SIGCONT that ends a stop.
  static void obey(int signal);
  /// Takes all pending signals. Error: EINTR, "stopped by signal 15", where one of them asks this
  /// command to end.
  static Result<void> check();
  /// Whether check() would return an error. Takes nothing.
  static bool is_pending();
  /// The first signal that check() returned an error for, or 0. The command exits with 128 + N.
  static int ended_by();
};

}  // namespace ocirun::runtime
