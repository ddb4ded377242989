#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::runtime::cli {

/// Parses a number of bytes: "64m", "64Mi", "1.5G", "512KiB", "1048576", "-1". Units are powers of
/// 1024. Errors: a sentence with the allowed forms.
Result<std::int64_t> parse_size(std::string_view text);

/// Parses a duration as Go writes it: "5s", "100ms", "1m30s", "1.5h". Errors: a sentence with the
/// allowed forms; the duration is zero, negative, or longer than a year.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace ocirun::runtime::cli
