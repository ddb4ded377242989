#include "pods/run/logs/line.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

constexpr std::int64_t kLatest = 253'402'300'799;  // the last second of the year 9999

/// Takes `digits` decimal digits and, if it is not NUL, the character after them.
std::optional<int> take(std::string_view& rest, std::size_t digits, char after) {
  const auto value = linux::number<unsigned>(rest.substr(0, digits));
  const std::size_t size = digits + (after != '\0' ? 1 : 0);
  if (!value || rest.size() < size || (after != '\0' && rest[digits] != after)) return std::nullopt;
  rest.remove_prefix(size);
  return static_cast<int>(*value);
}

std::optional<long> take_fraction(std::string_view& rest) {
  if (!rest.starts_with('.')) return 0;
  rest.remove_prefix(1);
  long value = 0;
  std::size_t digits = 0;
  for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9'; ++digits) {
    if (digits == 9) return std::nullopt;
    value = value * 10 + (rest[digits] - '0');
  }
  if (digits == 0) return std::nullopt;
  rest.remove_prefix(digits);
  for (; digits < 9; ++digits) value *= 10;
  return value;
}

/// Seconds that the zone ("Z", "+02:00") is ahead of UTC.
std::optional<int> zone_of(std::string_view rest) {
  if (rest == "Z") return 0;
  if (rest.size() != 6 || (rest[0] != '+' && rest[0] != '-')) return std::nullopt;
  const int sign = rest[0] == '-' ? -1 : 1;
  rest.remove_prefix(1);
  const auto hours = take(rest, 2, ':');
  const auto minutes = hours ? take(rest, 2, '\0') : std::nullopt;
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

/// Seconds of a duration such as "1h30m" of whole numbers with d, h, m or s.
std::optional<std::int64_t> duration_of(std::string_view text) {
  std::int64_t sum = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const std::size_t end = text.find_first_not_of("0123456789");
    if (end == std::string_view::npos) return std::nullopt;
    const auto count = linux::number<std::int64_t>(text.substr(0, end));
    const char unit = text[end];
    const int seconds = unit == 'd'   ? 86'400
                        : unit == 'h' ? 3'600
                        : unit == 'm' ? 60
                        : unit == 's' ? 1
                                      : 0;
    if (!count || seconds == 0 || *count > kLatest / seconds) return std::nullopt;
    sum += *count * seconds;
    if (sum > kLatest) return std::nullopt;
    text.remove_prefix(end + 1);
  }
  return sum;
}

/// The beginning of a day such as "2026-11-25" in the time zone of the caller.
std::optional<timespec> beginning_of(std::string_view text) {
  constexpr int kFirstYear = 1900;  // of tm_year
  const auto year = take(text, 4, '-');
  const auto month = year ? take(text, 2, '-') : std::nullopt;
  const auto day = month ? take(text, 2, '\0') : std::nullopt;
  if (!day || !text.empty()) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok() || *year < kFirstYear) return std::nullopt;
  tm local{};
  local.tm_year = *year - kFirstYear;
  local.tm_mon = *month - 1;
  local.tm_mday = *day;
  local.tm_isdst = -1;  // the zone's rules decide
  return timespec{.tv_sec = ::mktime(&local), .tv_nsec = 0};
}

}  // namespace

std::string format_time(const timespec& time) {
  using namespace std::chrono;  // not gmtime_r: gmtime_r reads /etc/localtime
  const sys_seconds at{seconds(time.tv_sec)};
  const auto day = floor<days>(at);
  const year_month_day date(day);
  const hh_mm_ss clock(at - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     time.tv_nsec);
}

std::optional<timespec> parse_time(std::string_view text) {
  using namespace std::chrono;
  const auto year_of = take(text, 4, '-');
  const auto month_of = year_of ? take(text, 2, '-') : std::nullopt;
  const auto day_of = month_of ? take(text, 2, 'T') : std::nullopt;
  const auto hour_of = day_of ? take(text, 2, ':') : std::nullopt;
  const auto minute_of = hour_of ? take(text, 2, ':') : std::nullopt;
  const auto second_of = minute_of ? take(text, 2, '\0') : std::nullopt;
  const auto fraction = second_of ? take_fraction(text) : std::nullopt;
  const auto zone = fraction ? zone_of(text) : std::nullopt;
  if (!zone || *hour_of > 23 || *minute_of > 59 || *second_of > 60) return std::nullopt;
  const year_month_day date(year(*year_of), month(static_cast<unsigned>(*month_of)),
                            day(static_cast<unsigned>(*day_of)));
  if (!date.ok()) return std::nullopt;
  const auto at = sys_days(date) + hours(*hour_of) + minutes(*minute_of) + seconds(*second_of);
  return timespec{.tv_sec = at.time_since_epoch().count() - *zone, .tv_nsec = *fraction};
}

std::string line_head(const timespec& time, Stream stream) {
  return format_time(time) + (stream == Stream::kStdout ? " stdout " : " stderr ");
}

std::optional<LogLine> parse_line(std::string_view line) {
  const auto time = parse_time(linux::cut(line, ' '));
  const std::string_view stream = linux::cut(line, ' ');
  if (!time || (stream != "stdout" && stream != "stderr")) return std::nullopt;
  const bool whole = line.starts_with("F ");
  if (!whole && !line.starts_with("P ")) return std::nullopt;
  return LogLine{.time = *time,
                 .stream = stream == "stdout" ? Stream::kStdout : Stream::kStderr,
                 .text = std::string(line.substr(2)),
                 .whole = whole};
}

Result<timespec> parse_since(std::string_view text, timespec now) {
  if (const auto time = parse_time(text)) return *time;
  if (const auto day = beginning_of(text)) return *day;
  if (text.starts_with('@')) {
    const auto seconds = linux::number<std::uint64_t>(text.substr(1));
    if (seconds && *seconds <= static_cast<std::uint64_t>(kLatest))
      return timespec{.tv_sec = static_cast<time_t>(*seconds), .tv_nsec = 0};
  } else if (const auto duration = duration_of(text)) {
    now.tv_sec -= *duration;
    return now;
  }
  return refuse(
      "\"{}\" is no time: give a duration before now such as 10m or 1h30m (d, h, m, s), a time "
      "such as 2026-11-25T01:02:03Z, a day such as 2026-11-25, or seconds since 1970 such as "
      "@1732500000",
      text);
}

std::string time_text_after(std::chrono::nanoseconds wait) {
  timespec time = wall_clock();
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  time.tv_sec += std::max<std::int64_t>(seconds, 0);
  return format_time(time);
}

std::int64_t seconds_until(const timespec& time) {
  const timespec now = wall_clock();
  const std::int64_t whole = time.tv_sec - now.tv_sec + (time.tv_nsec > now.tv_nsec ? 1 : 0);
  return std::max<std::int64_t>(whole, 0);
}

}  // namespace ocirun::pods
