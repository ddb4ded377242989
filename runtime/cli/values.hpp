#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::runtime::cli {

/// Parses a number of bytes: "64m", "64Mi", "1.5G", "512KiB", "1048576", "-1". Units are powers of
/// 1024. Errors: a sentence with the allowed forms.
Result<std::int64_t> parse_size(std::string_view text);

/// Parses a duration as Go writes it: "5s", "100ms", "1m30s", "1.5h". Errors: a sentence with the
/// allowed forms; the duration is zero, negative, or longer than a year.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// The open descriptor that the value of a file option names: 0 for "-" and /dev/stdin, N for
/// /dev/fd/N and /proc/self/fd/N (a shell's "<(…)"). Nothing for any other path.
std::optional<int> named_descriptor(const std::string& file);

/// Reads the document that a file option names, of at most bundle::Document::kMaxSize bytes: a
/// file, a pipe, a FIFO (waits for its writer) or an open descriptor. Errors: EBADF when the
/// descriptor is not open, EFBIG; the document is empty.
Result<std::string> read_document(const std::string& file);

}  // namespace ocirun::runtime::cli
