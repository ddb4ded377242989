#pragma once

#include <cstdint>
#include <string>

namespace ocirun::cgroups {

/// Converts cpu.shares (2 … 262144) to cpu.weight (1 … 10000), R-20: the curve through (2, 1),
/// (1024, 100) and (262144, 10000). Values outside the range are clamped to it.
std::uint64_t cpu_weight(std::uint64_t shares);

/// Converts blkio.weight (10 … 1000) to io.weight (1 … 10000), linearly, R-30.
std::uint64_t io_weight(std::uint64_t blkio_weight);

/// "max" for -1, else the number as text.
std::string or_max(std::int64_t limit);

}  // namespace ocirun::cgroups
