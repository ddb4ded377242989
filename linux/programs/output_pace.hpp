#pragma once

#include <chrono>

namespace ocirun::linux {

/// Decides when the output of a program is read, and when the reader rests. A reading takes some
/// milliseconds. The rest after it is nine times as long as the reading kept a CPU busy, so that
/// the output of a program takes at most a tenth of a CPU. No rest is shorter than its reading.
class OutputPace {
 public:
  using Clock = std::chrono::steady_clock;
  struct Reading {  // what the clocks show
    Clock::time_point time;
    std::chrono::nanoseconds cpu;  // the CPU time that the thread has used until `time`
  };
  using Clocks = Reading (*)();

  /// `clocks`: the clocks of the host, or those of a test.
  explicit OutputPace(Clocks clocks = &host_clocks) : clocks_(clocks) {}

  /// Begins a reading.
  void begin() { begun_ = clocks_(); }
  /// Whether the reading has time left. Counts the time that passes: other containers wait for it.
  bool has_time_left() const;
  /// Ends the reading, and begins the rest. Nine times the CPU time is counted, not the time that
  /// passes: on a busy host a reading waits for the CPU, and the container must not pay for that.
  void end();
  bool rests(Clock::time_point now) const { return now < rests_until_; }
  Clock::time_point rests_until() const { return rests_until_; }

 private:
  static Reading host_clocks();

  Clocks clocks_;
  Reading begun_{};
  Clock::time_point rests_until_;
};

}  // namespace ocirun::linux
