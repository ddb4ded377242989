#pragma once

#include <termios.h>

#include <chrono>
#include <optional>

#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Gives the pty whose master is `terminal` the window size of the caller's terminal, if the caller
/// has one.
void copy_window_size(Fd terminal);

/// The terminal on standard input of a foreground `run` or `exec` whose keys go to `container`, a
/// pty's master. While this process's job is in the foreground, the terminal is in raw mode, so
/// that every key reaches the container, and the pty has the terminal's window size. While the job
/// is in the background, the shell uses the terminal: this class neither reads it nor changes its
/// settings. Without job control (standard input is no terminal, or not the session's) the job
/// counts as being in the foreground.
class OwnTerminal {
 public:
  /// `container` is -1 if the container has no terminal: the caller's terminal is never touched.
  explicit OwnTerminal(Fd container);
  ~OwnTerminal();
  OwnTerminal(const OwnTerminal&) = delete;
  OwnTerminal& operator=(const OwnTerminal&) = delete;

  /// Makes the terminal raw if the job has come to the foreground. Call look() again after
  /// poll_limit() milliseconds: bash and zsh send no signal to a running job that `fg` brings to
  /// the foreground.
  void look();
  int poll_limit() const;
  bool is_ours() const { return is_ours_; }
  /// Call after SIGCONT: the job may have been continued in the foreground or in the background.
  void look_afresh();
  /// Call when a read of the terminal failed with EIO: the job is in the background.
  void lose();
  /// Restores the terminal's settings and stops this process by SIGTSTP, SIGTTIN or SIGTTOU, as the
  /// signal does with any job. Returns after SIGCONT.
  void stop_by(int signal);

 private:
  using Clock = std::chrono::steady_clock;

  void make_raw();
  void give_back();

  Fd container_;
  bool is_ours_ = false;
  Clock::time_point next_look_;
  std::optional<termios> saved_;  // the settings before make_raw()
  termios raw_{};                 // the settings that make_raw() made
};

}  // namespace ocirun::runtime
