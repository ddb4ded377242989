#pragma once

#include "linux/error.hpp"
#include "linux/unique_fd.hpp"

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
  /// The error that ends a command at a signal: errno EINTR, "interrupted by signal 15".
  static Error interruption(int signal);
};

}  // namespace ocirun::runtime
