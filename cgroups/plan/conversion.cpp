#include "cgroups/plan/conversion.hpp"

#include <fmt/format.h>

#include <bit>

namespace ocirun::cgroups {
namespace {

// No <cmath>: it would add libm's tables to the program for this single formula.

// atanh(t) = t + t³/3 + t⁵/5 …, to the last bit of a double for t <= 1/3.
constexpr double atanh_series(double t) {
  double sum = 0, power = t;
  for (int k = 1; k < 40; k += 2, power *= t * t) sum += power / k;
  return sum;
}

constexpr double kLn2 = 0.693147180559945309417;
constexpr double kLn10 = 2.302585092994045684018;

double log2_of(std::uint64_t number) {
  const int whole = static_cast<int>(std::bit_width(number)) - 1;
  const double mantissa =
      static_cast<double>(number) / static_cast<double>(std::uint64_t{1} << whole);  // 1 … 2
  return whole + 2 * atanh_series((mantissa - 1) / (mantissa + 1)) / kLn2;
}

// 10 to `exponent`, 0 … 4; exact for whole exponents.
double power_of_ten(double exponent) {
  double result = 1;
  for (; exponent >= 1; exponent -= 1) result *= 10;
  double term = 1, sum = 1;
  for (int k = 1; k < 30; ++k) sum += term *= exponent * kLn10 / k;
  return result * sum;
}

std::uint64_t round_up(double number) {
  const auto whole = static_cast<std::uint64_t>(number);
  return whole + (static_cast<double>(whole) < number ? 1 : 0);
}

}  // namespace

std::uint64_t cpu_weight(std::uint64_t shares) {
  if (shares <= 2) return 1;
  if (shares >= 262144) return 10000;
  const double l = log2_of(shares);
  // (l² + 125 l) / 612 - 7 / 34, written with one division: exact at 1024, where an error would
  // round up to 101.
  const double exponent = (l * l + 125 * l - 126) / 612;
  return round_up(power_of_ten(exponent));
}

std::uint64_t io_weight(std::uint64_t blkio_weight) {
  return blkio_weight < 10 ? 1 : 1 + (blkio_weight - 10) * 9999 / 990;
}

std::string or_max(std::int64_t limit) { return limit == -1 ? "max" : fmt::to_string(limit); }

}  // namespace ocirun::cgroups
