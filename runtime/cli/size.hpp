#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::runtime::cli {

/// "64m", "64Mi", "1.5G", "512KiB", "1048576", "-1": bytes; units are powers of 1024. Errors: what
/// is allowed.
Result<std::int64_t> parse_size(std::string_view text);

/// "5s", "100ms", "1m30s", "1.5h", as Go writes durations. Errors: what is allowed; it is not above
/// zero, or longer than a year.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace ocirun::runtime::cli
