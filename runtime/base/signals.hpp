#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Signals that end or concern a command, read from a descriptor so that every wait can hear them.
/// Blocked from the beginning of `create`, `run` and `exec`; a container's process gets a fresh
/// mask before execve.
class Signals {
 public:
  /// Blocks all but SIGKILL, SIGSTOP and the faults, once a process.
  static Result<void> capture();
  static Fd descriptor();
  /// The next signal that asks us to end (SIGHUP, SIGINT, SIGTERM, SIGQUIT), or 0; others are left
  /// out.
  static int take();
  /// The next signal of any number, or 0.
  static int take_any();
  /// What the kernel sends of this signal then acts at once, and does not come to descriptor().
  static void let_through(int signal);
  /// Ends let_through().
  static void hold_back(int signal);
  /// Does to us what the signal, which was taken, does where it is not blocked: a stop lasts until
  /// SIGCONT.
  static void obey(int signal);
  /// Takes what has come. Errors: EINTR, "stopped by signal 15", when a signal asks us to end.
  static Result<void> check();
  /// Whether check() would find one; nothing is taken.
  static bool is_pending();
  /// The first signal that check() found, or 0: a command that it ends exits with 128 + N.
  static int ended_by();
};

}  // namespace ocirun::runtime
