#include "linux/base/name_table.hpp"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>

#include "linux/base/text.hpp"

namespace ocirun::linux {
namespace {

std::optional<int> real_time_signal(std::string_view name) {
  if (name == "RTMIN") return SIGRTMIN;
  if (name == "RTMAX") return SIGRTMAX;
  if (name.starts_with("RTMIN+"))
    if (const auto offset = number<int>(name.substr(6));
        offset && *offset >= 0 && *offset <= SIGRTMAX - SIGRTMIN)
      return SIGRTMIN + *offset;
  if (name.starts_with("RTMAX-"))
    if (const auto offset = number<int>(name.substr(6));
        offset && *offset >= 0 && *offset <= SIGRTMAX - SIGRTMIN)
      return SIGRTMAX - *offset;
  return std::nullopt;
}

}  // namespace

Result<int> parse_signal(std::string_view text) {
  if (const auto value = number<int>(text); value && *value >= 0 && *value <= SIGRTMAX)
    return *value;
  std::string name(text);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (name.starts_with("SIG")) name.erase(0, 3);
  if (const auto signal = real_time_signal(name)) return *signal;
  for (int signal = 1; signal < 32; ++signal) {
    const char* abbreviation = ::sigabbrev_np(signal);
    if (abbreviation != nullptr && name == abbreviation) return signal;
  }
  if (name == "IOT") return SIGABRT;
  if (name == "IO") return SIGIO;  // sigabbrev_np(3) calls this signal POLL
  if (name == "CLD") return SIGCHLD;
  return refuse(
      "unknown signal \"{}\": give a name such as TERM or SIGKILL, RTMIN+1, or a number from 0 to "
      "{}",
      text, SIGRTMAX);
}

std::vector<std::string_view> signal_names() {
  std::vector<std::string_view> names;
  for (int signal = 1; signal < 32; ++signal)
    if (const char* abbreviation = ::sigabbrev_np(signal)) names.emplace_back(abbreviation);
  names.insert(names.end(), {"RTMIN", "RTMAX"});
  return names;
}

}  // namespace ocirun::linux
