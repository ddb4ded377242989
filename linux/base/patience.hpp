#pragma once

#include <chrono>

namespace ocirun::linux {

/// Polls with a time limit: each wait() sleeps longer, from 1 ms up to 50 ms.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds limit);
  /// Sleeps and returns true; returns false when the time limit is over.
  bool wait();

 private:
  std::chrono::steady_clock::time_point deadline_;
  std::chrono::milliseconds pause_{1};
};

}  // namespace ocirun::linux
