#pragma once

#include <optional>
#include <string>

#include "linux/base/error.hpp"

namespace ocirun::runtime::cli {

/// The open descriptor that the value of a file option names: 0 for "-" and /dev/stdin, N for
/// /dev/fd/N and /proc/self/fd/N (a shell's "<(…)"). Nothing for any other path.
std::optional<int> named_descriptor(const std::string& file);

/// Reads the document that a file option names, of at most bundle::Document::kMaxSize bytes: a
/// file, a pipe, a FIFO (waits for its writer) or an open descriptor. Errors: EBADF when the
/// descriptor is not open, EFBIG.
Result<std::string> read_document(const std::string& file);

}  // namespace ocirun::runtime::cli
