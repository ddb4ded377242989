#pragma once

#include <cstdint>
#include <string>

namespace ocirun::cgroups {

/// cpu.shares (2 … 262144) to cpu.weight (1 … 10000), R-20: the curve through (2, 1), (1024, 100)
/// and (262144, 10000); beyond its ends, the ends.
std::uint64_t cpu_weight(std::uint64_t shares);

/// blkio.weight (10 … 1000) to io.weight (1 … 10000), linear, R-30.
std::uint64_t io_weight(std::uint64_t blkio_weight);

/// -1 as "max", anything else as it is.
std::string or_max(std::int64_t limit);

}  // namespace ocirun::cgroups
