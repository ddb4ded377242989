#pragma once

#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// "TERM", "SIGTERM", "sigterm", "15", "RTMIN+3", "RTMAX-1"; 0 only asks whether the process
/// exists. Errors: what is allowed.
Result<int> parse_signal(std::string_view text);
/// "HUP", "INT" … by number, and "RTMIN", "RTMAX": each is one that parse_signal() takes.
std::vector<std::string_view> signal_names();

}  // namespace ocirun::linux
