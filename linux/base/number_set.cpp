#include "linux/base/number_set.hpp"

#include <cerrno>
#include <limits>
#include <optional>

#include "linux/base/text.hpp"

namespace ocirun::linux {
namespace {

constexpr std::size_t kNumberLimit = 1048576;
constexpr std::size_t kWordBits = std::numeric_limits<unsigned long>::digits;

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<std::size_t> parse_number(std::string_view text) {
  const auto value = number<std::size_t>(text);
  return value && *value < kNumberLimit ? value : std::nullopt;
}

}  // namespace

Result<NumberSet> NumberSet::parse(std::string_view text) {
  NumberSet set;
  std::string_view rest = trim(text);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = trim(rest.substr(0, comma));
    const std::size_t dash = item.find('-');
    const auto first = parse_number(trim(item.substr(0, dash)));
    const auto last =
        dash == std::string_view::npos ? first : parse_number(trim(item.substr(dash + 1)));
    if (!first || !last || *first > *last || comma == rest.size() - 1)
      return fail(EINVAL,
                  "list \"{}\": must be numbers (0 to {}) and ascending ranges separated by commas,"
                  " such as \"0-3,7\"",
                  text, kNumberLimit - 1);
    for (std::size_t number = *first; number <= *last; ++number) set.add(number);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  return set;
}

void NumberSet::add(std::size_t number) {
  if (words_.size() <= number / kWordBits) words_.resize(number / kWordBits + 1);
  words_[number / kWordBits] |= 1UL << (number % kWordBits);
}

bool NumberSet::contains(std::size_t number) const {
  const std::size_t word = number / kWordBits;
  return word < words_.size() && ((words_[word] >> (number % kWordBits)) & 1U) != 0;
}

}  // namespace ocirun::linux
