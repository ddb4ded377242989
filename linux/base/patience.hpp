#pragma once

#include <chrono>

namespace ocirun::linux {

/// Pauses of a bounded wait: 1 ms first, then longer ones, 50 ms at most.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds limit);
  /// Sleeps; false when the time is over.
  bool wait();

 private:
  std::chrono::steady_clock::time_point deadline_;
  std::chrono::milliseconds pause_{1};
};

}  // namespace ocirun::linux
