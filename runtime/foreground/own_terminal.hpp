#pragma once

#include <termios.h>

#include <chrono>
#include <optional>

#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Gives the pty whose master is `terminal` the window size of our own terminal, if we have one.
void copy_window_size(Fd terminal);

/// The terminal on our standard input while its keys go to `container`, a pty's master. As long as
/// our job has the foreground it is in raw mode, so that every key arrives, and the window sizes
/// agree. In the background it is the shell's: nobody reads or changes it here. Without job control
/// (not a terminal, or not that of our session) there is only the foreground.
class OwnTerminal {
 public:
  /// -1: no keys are wanted, and the terminal is never touched.
  explicit OwnTerminal(Fd container);
  ~OwnTerminal();
  OwnTerminal(const OwnTerminal&) = delete;
  OwnTerminal& operator=(const OwnTerminal&) = delete;

  /// Takes the terminal once our job has the foreground. It wants to be called again after
  /// poll_limit(), in ms: bash and zsh do not tell a job that runs when `fg` gives it the terminal.
  void look();
  int poll_limit() const;
  bool is_ours() const { return is_ours_; }
  /// After SIGCONT: we may have come back in the foreground or in the background.
  void look_afresh();
  /// A read was refused: the foreground has been taken from us.
  void lose();
  /// Gives the terminal back and does what SIGTSTP, SIGTTIN or SIGTTOU does to any job; returns
  /// when we are continued.
  void stop_by(int signal);

 private:
  using Clock = std::chrono::steady_clock;

  void make_raw();
  void give_back();

  Fd container_;
  bool is_ours_ = false;
  Clock::time_point next_look_;
  std::optional<termios> saved_;  // what the caller had
  termios raw_{};                 // what we made of it
};

}  // namespace ocirun::runtime
