// Amounts of bytes and CPUs, in the forms that documents have.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "linux/base/text.hpp"
#include "pods/documents/model/numbers.hpp"

namespace ocirun::pods {
namespace {

using bundle::Node;

constexpr double kAboveLinux = 0x1p63;  // the first number of bytes that Linux cannot count

/// Rounds up to whole bytes; nothing if Linux cannot count them.
std::optional<std::uint64_t> whole_bytes(double count) {
  const double whole = std::ceil(count);
  if (!(whole >= 0) || whole >= kAboveLinux) return std::nullopt;
  return static_cast<std::uint64_t>(whole);
}

/// A suffix of a quantity: a power of ten, or of two.
struct Unit {
  std::string_view suffix;
  int tens = 0, twos = 0;
};
constexpr Unit kUnits[] = {
    {"", 0},       {"n", -9},     {"u", -6},     {"m", -3},     {"k", 3},      {"K", 3},
    {"M", 6},      {"G", 9},      {"T", 12},     {"P", 15},     {"E", 18},     {"Ki", 0, 10},
    {"Mi", 0, 20}, {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

/// The power of ten of "e3", "E-3"; nothing for another suffix, also for the E of 10^18.
std::optional<int> exponent(std::string_view suffix) {
  if (!suffix.starts_with('e') && !suffix.starts_with('E')) return std::nullopt;
  suffix.remove_prefix(1);
  if (suffix.starts_with('+')) suffix.remove_prefix(1);
  return linux::number<int>(suffix);
}

/// The value of a quantity of Kubernetes: a decimal number with a unit or an exponent, such
/// as 1.5Gi, 100m and 1e8. The nearest double, so that 128974848000m is 128974848. Nothing for
/// another text.
std::optional<double> quantity(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view suffix = text.substr(digits);
  const auto* unit = std::ranges::find(kUnits, suffix, &Unit::suffix);
  const auto power = exponent(suffix);
  if (unit == std::end(kUnits) && !power) return std::nullopt;
  const std::string decimal =
      fmt::format("{}e{}", text.substr(0, digits), power ? *power : unit->tens);
  double value = 0;
  const auto [end, error] = std::from_chars(decimal.data(), decimal.data() + decimal.size(), value);
  if (digits == 0 || end != decimal.data() + decimal.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range)
    return decimal.contains("e-") ? 0 : std::numeric_limits<double>::infinity();
  return power ? value : std::ldexp(value, unit->twos);
}

/// The text of a string, or of a number as it is written.
std::optional<std::string> written(const Node& node) {
  if (node.is_string() || node.kind == Node::Kind::kOther) return std::string(node.text);
  if (node.kind == Node::Kind::kNatural) return fmt::format("{}", node.number);
  return std::nullopt;
}

}  // namespace

bool oam_size(Value at, std::uint64_t& out) {
  if (!has_one_reading(at)) return false;
  const auto text = written(at.node());
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  const std::size_t length = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto count = linux::number<std::uint64_t>(rest.substr(0, length));
  rest.remove_prefix(length);
  constexpr std::string_view kLetters = "KMGTP";
  int shift = 0;
  if (!rest.empty()) {
    const char letter = static_cast<char>(rest.front() & ~0x20);  // upper case
    if (const std::size_t unit = kLetters.find(letter); unit != std::string_view::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      rest.remove_prefix(1);
    }
  }
  if (rest == "B" || rest == "b") rest = {};
  if (!text || !count || *count == 0 || !rest.empty()) {
    at.problem("must be a whole number above 0 with or without a unit K, M, G, T or P, not {}",
               found(at));
    return false;
  }
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (*count > kMost >> shift) {
    at.problem("is {}, more than the {} bytes that Linux can count", found(at), kMost);
    return false;
  }
  out = *count << shift;
  return true;
}

bool kubernetes_cpus(Value at, double& out) {
  if (!has_one_reading(at)) return false;
  const auto count = quantity(written(at.node()).value_or(""));
  if (count && *count > 0 && std::isfinite(*count)) {
    out = *count;
    return true;
  }
  at.problem("must be a number of CPUs above 0, such as 0.5 or \"500m\", not {}", found(at));
  return false;
}

bool kubernetes_bytes(Value at, std::uint64_t& out) {
  if (!has_one_reading(at)) return false;
  const auto count = quantity(written(at.node()).value_or(""));
  if (!count || !(*count > 0)) {
    at.problem("must be a number of bytes above 0, such as \"128Mi\" or \"1G\", not {}", found(at));
    return false;
  }
  const auto bytes = whole_bytes(*count);
  if (!bytes)
    at.problem("is {}, more than the {} bytes that Linux can count", found(at),
               std::numeric_limits<std::int64_t>::max());
  else
    out = *bytes;
  return bytes.has_value();
}

std::optional<std::uint64_t> whole_quantity(const Node& node) {
  const auto count = quantity(written(node).value_or(""));
  if (!count || *count >= kAboveLinux || std::trunc(*count) != *count) return std::nullopt;
  return static_cast<std::uint64_t>(*count);
}

}  // namespace ocirun::pods
