#include "linux/base/text.hpp"

#include <fmt/core.h>

#include <chrono>

namespace ocirun::linux {
namespace {

// The number of bytes that follow `first` in a character of UTF-8.
int following_bytes(unsigned char first) {
  if (first >= 0xf0) return 3;
  if (first >= 0xe0) return 2;
  return first >= 0xc2 ? 1 : 0;
}

bool is_continuation(unsigned char byte) { return byte >= 0x80 && byte < 0xc0; }

// `kept`: the control characters that stay as they are.
std::string escape_controls(std::string_view text, std::string_view kept) {
  std::string shown;
  int following = 0;  // bytes that still belong to a character of several bytes
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const bool belongs = following > 0 && is_continuation(byte);
    following = belongs ? following - 1 : following_bytes(byte);
    if ((byte < 0x20 && !kept.contains(text[i])) || byte == 0x7f ||
        (is_continuation(byte) && !belongs)) {
      shown += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      shown += fmt::format("\\x{:02x}", next);
      following = 0;
      ++i;
    } else {
      shown += text[i];
    }
  }
  return shown;
}

}  // namespace

std::string without_controls(std::string_view text) { return escape_controls(text, "\n\t"); }

std::string in_one_line(std::string_view text) { return escape_controls(text, ""); }

std::string rfc3339_now(int digits) {
  using namespace std::chrono;  // not gmtime_r, which reads /etc/localtime
  const auto now = floor<nanoseconds>(system_clock::now());
  const auto day = floor<days>(now);
  const year_month_day date(day);
  const hh_mm_ss time(now - day);
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  time.hours().count(), time.minutes().count(), time.seconds().count());
  if (digits > 0) text += fmt::format(".{:09}", time.subseconds().count());
  return text + "Z";
}

}  // namespace ocirun::linux
