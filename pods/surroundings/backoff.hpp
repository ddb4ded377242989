#pragma once

#include <chrono>

namespace ocirun::pods {

/// How long a container waits before it is started again: 1 s, then twice as long each time, 5
/// minutes at most. A run of 10 minutes is a success, after which the first wait is 1 s again.
class Backoff {
 public:
  std::chrono::seconds after_run_of(std::chrono::steady_clock::duration ran) {
    if (ran >= kSuccess) next_ = kFirst;
    const std::chrono::seconds wait = next_;
    next_ = next_ * 2 < kLongest ? next_ * 2 : kLongest;
    return wait;
  }

 private:
  static constexpr std::chrono::seconds kFirst{1}, kLongest{300};
  static constexpr std::chrono::minutes kSuccess{10};
  std::chrono::seconds next_ = kFirst;
};

}  // namespace ocirun::pods
