#pragma once

#include <ctime>
#include <string>

#include "pods/logs/line.hpp"

namespace ocirun::pods {

/// The present time of the host's clock.
inline timespec wall_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now;
}
inline std::string present_text() { return format_time(wall_clock()); }

}  // namespace ocirun::pods
