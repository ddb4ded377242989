#pragma once

#include <chrono>

namespace ocirun::linux {

/// When the output of a program is read, and when its reader rests from that. A reading takes some
/// milliseconds. The rest after it is nine times as long as the reading kept a CPU busy, so that
/// the output of a program takes at most a tenth of a CPU.
class OutputPace {
 public:
  using Clock = std::chrono::steady_clock;
  struct Reading {
    Clock::time_point time;
    std::chrono::nanoseconds cpu;  // that the thread has used until then
  };
  using Clocks = Reading (*)();

  /// `clocks`: the clocks of the host, or those of a test.
  explicit OutputPace(Clocks clocks = &host_clocks) : clocks_(clocks) {}

  /// Begins a reading.
  void begin() { begun_ = clocks_(); }
  /// Whether the reading has time left. Counts by the time that passes: other containers wait.
  bool has_time_left() const;
  /// Ends the reading, and begins the rest. Counts by the time of the CPU: on a busy host a reading
  /// waits for the CPU, and the container must not pay for that.
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
