#pragma once

#include <poll.h>
#include <termios.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Copies the caller's input to a pty's master, and the master's output to the caller's output.
/// Only drain() blocks: bytes that one side does not take are kept, and no more are read for that
/// side until they are written. Output is dropped once nobody can read it, so that the program goes
/// on.
class Relay {
 public:
  /// `terminal` is the pty's master, or -1 if there is nothing to copy; it is made non-blocking.
  /// The flags of `input` and `output` stay, because other processes share the open files.
  Relay(Fd terminal, Fd input, Fd output);

  static constexpr std::size_t kWatched = 3;
  /// The descriptors and events for the next poll(2).
  std::array<pollfd, kWatched> wanted() const;
  /// The timeout of the next poll(2) in milliseconds; -1 for none.
  int poll_limit() const;
  /// While `held`, the input is neither read nor polled: the job is in the background of its
  /// terminal.
  void hold_input(bool held) { input_is_held_ = held; }
  /// Whether the input is held. A read that fails because the job is in the background holds it.
  bool input_is_held() const { return input_is_held_; }
  /// Copies in both directions what can be copied without blocking; `ready` is wanted() after
  /// poll(2).
  void carry(const std::array<pollfd, kWatched>& ready);
  /// Called after the program has ended: copies what the pty still holds to the output, at most 256
  /// KiB, because another process may go on writing. Waits for the output until a signal asks this
  /// process to end (Signals::check).
  void drain();

 private:
  // Bytes that were read and not written yet. The size is PIPE_BUF: a pipe that poll(2) calls
  // writable takes that many bytes without blocking.
  struct Pending {
    std::array<char, 4096> bytes;
    std::size_t begin = 0, end = 0;
    bool empty() const { return begin == end; }
  };
  using Clock = std::chrono::steady_clock;
  enum class Side { kOpen, kClosed };
  /// Whether the end-of-file character (VEOF) was written to the pty, and for which mode of the
  /// pty: ICANON on (kForLines) or off (kForKeys).
  enum class EndTyped { kNo, kForLines, kForKeys };

  enum { kTerminal, kInput, kOutput };

  static Side read_some(Fd from, Pending& pending);
  static Side write_some(Fd to, Pending& pending);
  void read_input();
  void write_output();
  void type_end_of_file();
  void close_terminal();

  Fd terminal_, input_, output_;     // -1: closed
  UniqueFd own_input_, own_output_;  // input and output opened once more, non-blocking, if possible
  Pending typed_;                    // from the input to the pty
  Pending shown_;                    // from the pty to the output
  bool input_is_held_ = false;
  bool input_has_ended_ = false;
  EndTyped end_typed_ = EndTyped::kNo;
  bool end_is_owed_ = false;  // VEOF is to be written once the program has been silent for 100 ms
  Clock::time_point heard_ = Clock::now();  // of the last read from the pty
};

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
