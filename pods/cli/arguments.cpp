#include "pods/cli/arguments.hpp"

#include <algorithm>

#include "bundle/json/report.hpp"

namespace ocirun::pods::cli {
namespace {

Error unknown_option(std::string_view word, std::span<const Option> options) {
  std::vector<std::string_view> names;
  for (const Option& option : options) names.push_back(option.name);
  const std::string_view near =
      bundle::nearest(word.substr(std::min(word.find_first_not_of('-'), word.size())), names);
  if (near.empty()) return Error(0, fmt::format("unknown option {}; see --help", word));
  return Error(0, fmt::format("unknown option {} (did you mean --{}?); see --help", word, near));
}

}  // namespace

Result<Arguments> Arguments::parse(std::span<const std::string> words,
                                   std::span<const Option> options, bool stops) {
  Arguments arguments;
  bool only_operands = false;
  for (std::size_t index = 0; index < words.size(); ++index) {
    const std::string_view word = words[index];
    if (only_operands || word.size() < 2 || word.front() != '-') {
      arguments.operands_.emplace_back(word);
      only_operands = only_operands || stops;
      continue;
    }
    if (word == "--") {
      only_operands = true;
      continue;
    }
    const std::string_view written = word.substr(0, word.find('='));
    const auto option = std::ranges::find_if(options, [&](const Option& row) {
      return written.starts_with("--") ? written.substr(2) == row.name
                                       : written.size() == 2 && written[1] == row.letter;
    });
    if (option == options.end()) return std::unexpected(unknown_option(written, options));
    const bool has_value = written.size() != word.size();
    const bool may_lack_value = option->value.starts_with('[');
    if (option->value.empty() && has_value) return refuse("{}: takes no value", written);
    if (has_value) {
      arguments.values_.emplace(option->name, word.substr(written.size() + 1));
    } else if (option->value.empty() || may_lack_value) {
      arguments.values_.emplace(option->name, "");
    } else if (index + 1 < words.size()) {
      arguments.values_.emplace(option->name, words[++index]);
    } else {
      return refuse("{}: a value ({}) is missing", written, option->value);
    }
  }
  return arguments;
}

void Arguments::set_default(std::string_view option, std::string value) {
  if (!has(option)) values_.emplace(option, std::move(value));
}

std::vector<std::string> Arguments::values(std::string_view option) const {
  std::vector<std::string> all;
  const auto [begin, end] = values_.equal_range(option);
  for (auto value = begin; value != end; ++value) all.push_back(value->second);
  return all;
}

std::optional<std::string> Arguments::value(std::string_view option) const {
  const auto [begin, end] = values_.equal_range(option);
  if (begin == end) return std::nullopt;
  return std::prev(end)->second;
}

}  // namespace ocirun::pods::cli
