#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>

#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Copies between a pty's master and two descriptors of the caller's. Nothing but drain() waits:
/// what one side does not take is kept, and until then no more is read for it. An output that is
/// gone is no reason to hold the program up: what it writes is dropped then.
class Relay {
 public:
  /// `terminal` is made non-blocking (-1: there is nothing to copy). The flags of `input` and
  /// `output` are shared with the caller and stay.
  Relay(Fd terminal, Fd input, Fd output);

  static constexpr std::size_t kWatched = 3;
  /// What to poll for now.
  std::array<pollfd, kWatched> wanted() const;
  /// How long that poll(2) may wait at most, in ms; -1: without end.
  int poll_limit() const;
  /// The input is another's for now: it is not read, nor polled for.
  void hold_input(bool held) { input_is_held_ = held; }
  /// Whether the last read was refused, as in the background of the input's terminal; the input is
  /// held then.
  bool input_is_held() const { return input_is_held_; }
  /// Copies what can be copied now; `ready` is wanted() after poll(2).
  void carry(const std::array<pollfd, kWatched>& ready);
  /// At the end: gives the output what the pty still holds, and no more even if somebody else goes
  /// on writing. Waits for the output as long as no signal asks us to end (Signals::check).
  void drain();

 private:
  // PIPE_BUF: a pipe that poll(2) calls writable takes so much without waiting.
  struct Pending {
    std::array<char, 4096> bytes;
    std::size_t begin = 0, end = 0;
    bool empty() const { return begin == end; }
  };
  using Clock = std::chrono::steady_clock;
  enum class Side { kOpen, kClosed };
  /// Whether the end of the input was typed, and for whom: what reads lines, or single keys.
  enum class EndTyped { kNo, kForLines, kForKeys };

  enum { kTerminal, kInput, kOutput };

  static Side read_some(Fd from, Pending& pending);
  static Side write_some(Fd to, Pending& pending);
  void read_input();
  void write_output();
  void type_end_of_file();
  void close_terminal();

  Fd terminal_, input_, output_;     // -1: closed
  UniqueFd own_input_, own_output_;  // opened again, non-blocking, where that can be done
  Pending typed_, shown_;
  bool input_is_held_ = false;
  bool input_has_ended_ = false;
  EndTyped end_typed_ = EndTyped::kNo;
  bool end_is_owed_ = false;  // to who reads keys, once it has been silent for a while
  Clock::time_point heard_ = Clock::now();
};

}  // namespace ocirun::runtime
