#include "pods/documents/model/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "pods/documents/model/yaml_words.hpp"

namespace ocirun::pods {
namespace {

using bundle::Node;

/// The number of a scalar; nothing for other values, and for infinity.
std::optional<double> to_double(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNatural:
      return static_cast<double>(node.number);
    case Node::Kind::kNegative:
      return static_cast<double>(static_cast<std::int64_t>(node.number));
    case Node::Kind::kOther: {
      double value = 0;
      std::string_view text = node.text;
      if (text.starts_with('+')) text.remove_prefix(1);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
      return value;
    }
    default:
      return std::nullopt;
  }
}

/// The digits of a decimal number without its leading zeros, as YAML 1.2 reads `word`; "" for
/// another word, and for a number without leading zeros.
std::string decimal_of(std::string_view word) {
  const bool is_negative = word.starts_with('-');
  if (is_negative || word.starts_with('+')) word.remove_prefix(1);
  if (word.size() < 2 || word.front() != '0' ||
      word.find_first_not_of("0123456789") != std::string_view::npos)
    return "";
  word.remove_prefix(std::min(word.find_first_not_of('0'), word.size() - 1));
  return fmt::format("{}{}", is_negative ? "-" : "", word);
}

template <typename Id>
bool read_id(Value at, Id& out) {
  std::uint32_t number = 0;
  if (!whole_number(0, Id::kUnchanged - 1)(at, number)) return false;
  out = *Id::make(number);
  return true;
}

}  // namespace

bool has_one_reading(Value at, Wanted wanted) {
  const Node& node = at.node();
  if (!node.plain) return true;
  const auto old = yaml_1_1_value(node.text);
  const std::string_view text = node.text.substr(0, 40);
  if (node.is_string()) {
    const bool is_number = old && *old != "true" && *old != "false";
    if (is_number)
      at.problem(
          "{0} is {1} in YAML 1.1, as kubectl reads it, and the text \"{0}\" in YAML 1.2: write "
          "{1}{2}",
          text, *old, wanted == Wanted::kNumber ? "" : fmt::format(", or \"{}\" in quotes", text));
    return !is_number;
  }
  const std::string decimal = decimal_of(node.text);
  if (node.kind != Node::Kind::kOther || decimal.empty()) return true;
  if (old)
    at.problem(
        "{0} is {1} in YAML 1.1, as kubectl reads it, and {2} in YAML 1.2: write {1} or {2}, "
        "whichever is meant",
        text, *old, decimal.substr(0, 40));
  else
    at.problem(
        "{} is no number in YAML 1.1, where a leading 0 is octal, and {} in YAML 1.2: write {}",
        text, decimal.substr(0, 40), decimal.substr(0, 40));
  return false;
}

std::optional<std::int64_t> whole_value(const Node& node) {
  constexpr double kMost = 0x1p53;  // a double has all whole numbers up to here
  if (node.kind != Node::Kind::kOther) return std::nullopt;
  const auto value = to_double(node);
  if (!value || std::abs(*value) > kMost || std::trunc(*value) != *value) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

bool user_id(Value at, Uid& out) { return read_id(at, out); }
bool group_id(Value at, Gid& out) { return read_id(at, out); }

bool number_from(Value at, double least, double& out) {
  if (!has_one_reading(at)) return false;
  const auto value = to_double(at.node());
  if (value && *value >= least) {
    out = *value;
    return true;
  }
  at.problem("must be a number from {} on, not {}", least, found(at));
  return false;
}

bool cpu_count(Value at, double& out) {
  if (!has_one_reading(at)) return false;
  const auto value = to_double(at.node());
  if (value && *value > 0) {
    out = *value;
    return true;
  }
  at.problem("must be a number of CPUs above 0, such as 0.5, not {}", found(at));
  return false;
}

}  // namespace ocirun::pods
