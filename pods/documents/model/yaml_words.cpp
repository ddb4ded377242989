#include "pods/documents/model/yaml_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

/// Removes a sign at the beginning of `word`. Returns whether it was "-".
bool take_sign(std::string_view& word) {
  const bool is_negative = word.starts_with('-');
  if (is_negative || word.starts_with('+')) word.remove_prefix(1);
  return is_negative;
}

int take_base(std::string_view& digits) {
  if (digits.size() < 2 || digits.front() != '0') return 10;
  const char letter = static_cast<char>(digits[1] | 0x20);  // lower case
  const int base = letter == 'x' ? 16 : letter == 'b' ? 2 : letter == 'o' ? 8 : 0;
  digits.remove_prefix(base == 0 ? 1 : 2);
  return base == 0 ? 8 : base;
}

/// `word` has no "_".
std::optional<std::string> whole_number_1_1(std::string_view word) {
  const bool is_negative = take_sign(word);
  const int base = take_base(word);
  const auto value = linux::number(word, base);
  if (!value) return std::nullopt;
  return fmt::format("{}{}", is_negative && *value != 0 ? "-" : "", *value);
}

/// A fraction, or a number with an exponent. Digits behind a leading 0 are octal or no number.
std::optional<std::string> fraction_1_1(std::string_view word) {
  if (!is_yaml_float(word)) return std::nullopt;
  std::string_view digits = word;
  take_sign(digits);
  const bool is_whole = digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (is_whole && digits.size() > 1 && digits.front() == '0') return std::nullopt;
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::string(word);
  return fmt::format("{}", value);
}

}  // namespace

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_yaml_float(std::string_view word) {
  if (is_one_of(word, {".nan", ".NaN", ".NAN"})) return true;
  take_sign(word);
  if (is_one_of(word, {".inf", ".Inf", ".INF"})) return true;
  const auto digits = [&] {
    const std::size_t count = std::min(word.find_first_not_of("0123456789"), word.size());
    word.remove_prefix(count);
    return count;
  };
  std::size_t count = digits();
  if (word.starts_with('.')) {
    word.remove_prefix(1);
    count += digits();
  }
  if (count == 0) return false;
  if (word.starts_with('e') || word.starts_with('E')) {
    word.remove_prefix(1);
    take_sign(word);
    if (digits() == 0) return false;
  }
  return word.empty();
}

std::optional<std::string> yaml_1_1_value(std::string_view word) {
  if (is_one_of(word, {"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"}))
    return "true";
  if (is_one_of(word, {"n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"}))
    return "false";
  // A number begins with a digit, a sign or a point, and may have "_" between its digits.
  if (word.find_first_of("0123456789+-.") != 0) return std::nullopt;
  std::string digits(word);
  if (!word.starts_with('.')) std::erase(digits, '_');
  if (auto whole = whole_number_1_1(digits)) return whole;
  return fraction_1_1(digits);
}

std::string yaml_1_1_name(std::string_view word) {
  return yaml_1_1_value(word).value_or(std::string(word));
}

}  // namespace ocirun::pods
