#include "linux/signal_names.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>

namespace ocirun::linux {
namespace {

std::optional<int> parse_int(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> real_time_signal(std::string_view name) {
  if (name == "RTMIN") return SIGRTMIN;
  if (name == "RTMAX") return SIGRTMAX;
  if (name.starts_with("RTMIN+"))
    if (const auto offset = parse_int(name.substr(6));
        offset && *offset >= 0 && *offset <= SIGRTMAX - SIGRTMIN)
      return SIGRTMIN + *offset;
  if (name.starts_with("RTMAX-"))
    if (const auto offset = parse_int(name.substr(6));
        offset && *offset >= 0 && *offset <= SIGRTMAX - SIGRTMIN)
      return SIGRTMAX - *offset;
  return std::nullopt;
}

}  // namespace

Result<int> parse_signal(std::string_view text) {
  if (const auto number = parse_int(text); number && *number >= 0 && *number <= SIGRTMAX)
    return *number;
  std::string name(text);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (name.starts_with("SIG")) name.erase(0, 3);
  if (const auto number = real_time_signal(name)) return *number;
  for (int number = 1; number < 32; ++number) {
    const char* abbreviation = ::sigabbrev_np(number);
    if (abbreviation != nullptr && name == abbreviation) return number;
  }
  if (name == "IOT") return SIGABRT;
  if (name == "IO") return SIGIO;  // to glibc it is POLL
  if (name == "CLD") return SIGCHLD;
  return refuse(
      "unknown signal \"{}\": give a name such as TERM or SIGKILL, RTMIN+1, or a number from 0 to "
      "{}",
      text, SIGRTMAX);
}

}  // namespace ocirun::linux
