#pragma once

#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// Accepts "TERM", "SIGTERM", "sigterm", "15", "RTMIN+3", "RTMAX-1". 0 only tests whether the
/// process exists. Errors say what is allowed.
Result<int> parse_signal(std::string_view text);
/// "HUP", "INT" … by number, and "RTMIN", "RTMAX". parse_signal() accepts each of them.
std::vector<std::string_view> signal_names();

}  // namespace ocirun::linux
