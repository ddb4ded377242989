#include "linux/base/patience.hpp"

#include <time.h>

#include <algorithm>

namespace ocirun::linux {

Patience::Patience(std::chrono::milliseconds limit)
    : deadline_(std::chrono::steady_clock::now() + limit) {}

bool Patience::wait() {
  const auto now = std::chrono::steady_clock::now();
  if (now >= deadline_) return false;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - now);
  const auto pause = std::min(pause_, left);
  pause_ = std::min(pause_ * 2, std::chrono::milliseconds(50));
  const timespec time{.tv_sec = 0, .tv_nsec = static_cast<long>(pause.count()) * 1'000'000};
  ::nanosleep(&time, nullptr);
  return true;
}

}  // namespace ocirun::linux
