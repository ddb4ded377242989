#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::pods {

enum class Stream { kStdout, kStderr };

/// A line of a container's log, or a piece of a line.
struct LogLine {
  timespec time{};
  Stream stream = Stream::kStdout;
  std::string text;   // any bytes except a line break
  bool whole = true;  // false: the line goes on in the stream's next LogLine
};

/// "2026-11-25T01:02:03.123456789Z": RFC 3339 in UTC with nanoseconds.
std::string format_time(const timespec& time);
/// Parses RFC 3339 with 0 to 9 digits of fraction and any zone. Returns nullopt for another text.
std::optional<timespec> parse_time(std::string_view text);

/// The beginning of a line of the log file in CRI's format: "TIME stdout ". "F TEXT" and a line
/// break follow, or "P TEXT" and a line break for a piece of a line that goes on.
std::string line_head(const timespec& time, Stream stream);
/// Parses a line of the log file without its line break. Returns nullopt if the line is damaged.
std::optional<LogLine> parse_line(std::string_view line);

/// A time for `--since`: "10m" and "1h30m" before `now`, "2026-11-25T01:02:03Z", "@1732500000"
/// (seconds since 1970), "2026-11-25" (the beginning of the day in the caller's time zone, TZ).
/// Errors: a sentence with the allowed forms.
Result<timespec> parse_since(std::string_view text, timespec now);

/// The present time of the host's clock.
inline timespec wall_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now;
}
inline std::string present_text() { return format_time(wall_clock()); }
/// The time of the host's clock after `wait`, to the second. A past time is now.
std::string time_text_after(std::chrono::nanoseconds wait);
/// The whole seconds from now until `time`, rounded up; 0 if `time` has passed.
std::int64_t seconds_until(const timespec& time);

}  // namespace ocirun::pods
