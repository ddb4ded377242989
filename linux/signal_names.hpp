#pragma once

#include <string_view>

#include "linux/error.hpp"

namespace ocirun::linux {

/// "TERM", "SIGTERM", "sigterm", "15", "RTMIN+3", "RTMAX-1"; 0 only asks whether the process
/// exists. Errors: what is allowed.
Result<int> parse_signal(std::string_view text);

}  // namespace ocirun::linux
