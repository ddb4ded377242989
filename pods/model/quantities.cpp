// Amounts of bytes and CPUs, in the forms that documents have.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "linux/base/text.hpp"
#include "pods/model/scalars.hpp"

namespace ocirun::pods {
namespace {

using bundle::Node;

/// `number` * `unit`, rounded up to a whole number; nothing if 63 bits cannot hold the product.
std::optional<std::uint64_t> multiply(double number, double unit) {
  const double product = std::ceil(number * unit);
  if (!(product >= 0) || product >= std::ldexp(1.0, 63)) return std::nullopt;
  return static_cast<std::uint64_t>(product);
}

/// Removes the decimal number at the beginning of `text`, and returns it. Accepts no sign and no
/// exponent.
std::optional<double> take_decimal(std::string_view& text) {
  const std::size_t size = std::min(text.find_first_not_of("0123456789."), text.size());
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + size, value);
  if (size == 0 || error != std::errc{} || end != text.data() + size) return std::nullopt;
  text.remove_prefix(size);
  return value;
}

/// The text of a string, or of a number as it is written.
std::optional<std::string> written(const Node& node) {
  if (node.is_string() || node.kind == Node::Kind::kOther) return std::string(node.text);
  if (node.kind == Node::Kind::kNatural) return fmt::format("{}", node.number);
  return std::nullopt;
}

}  // namespace

bool oam_size(Value at, std::uint64_t& out) {
  const auto text = written(at.node());
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto count = linux::number<std::uint64_t>(rest.substr(0, digits));
  rest.remove_prefix(digits);
  constexpr std::string_view kUnits = "KMGTP";
  int shift = 0;
  if (!rest.empty()) {
    const char letter = static_cast<char>(rest.front() & ~0x20);  // upper case
    if (const std::size_t unit = kUnits.find(letter); unit != std::string_view::npos) {
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
  const auto text = written(at.node());
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  const auto count = take_decimal(rest);
  const bool thousandths = rest == "m";
  if (text && count && *count > 0 && (rest.empty() || thousandths)) {
    out = thousandths ? *count / 1000 : *count;
    return true;
  }
  at.problem("must be a number of CPUs above 0, such as 0.5 or \"500m\", not {}", found(at));
  return false;
}

bool kubernetes_bytes(Value at, std::uint64_t& out) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},        {"k", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},
      {"P", 1e15},    {"E", 1e18},    {"K", 1e3},     {"Ki", 0x1p10}, {"Mi", 0x1p20},
      {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60},
  };
  const auto text = written(at.node());
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  const auto count = take_decimal(rest);
  const auto* unit = std::ranges::find(kUnits, rest, &std::pair<std::string_view, double>::first);
  if (text && count && *count > 0 && unit != std::end(kUnits)) {
    if (const auto bytes = multiply(*count, unit->second)) {
      out = *bytes;
      return true;
    }
    at.problem("is {}, more than the {} bytes that Linux can count", found(at),
               std::numeric_limits<std::int64_t>::max());
    return false;
  }
  at.problem("must be a number of bytes above 0, such as \"128Mi\" or \"1G\", not {}", found(at));
  return false;
}

}  // namespace ocirun::pods
