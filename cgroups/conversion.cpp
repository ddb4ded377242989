#include "cgroups/conversion.hpp"

#include <fmt/format.h>

#include <cmath>

namespace ocirun::cgroups {

std::uint64_t cpu_weight(std::uint64_t shares) {
  if (shares <= 2) return 1;
  if (shares >= 262144) return 10000;
  const double l = std::log2(static_cast<double>(shares));
  // (l² + 125 l) / 612 - 7 / 34 with one division: exact at 1024, where ceil() must not slip to
  // 101.
  const double exponent = (l * l + 125 * l - 126) / 612;
  return static_cast<std::uint64_t>(std::ceil(std::pow(10, exponent)));
}

std::uint64_t io_weight(std::uint64_t blkio_weight) {
  return blkio_weight < 10 ? 1 : 1 + (blkio_weight - 10) * 9999 / 990;
}

std::string or_max(std::int64_t limit) { return limit == -1 ? "max" : fmt::to_string(limit); }

}  // namespace ocirun::cgroups
