#include <algorithm>

#include "bundle/json/report.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"
#include "runtime/cli/command.hpp"

namespace ocirun::runtime::cli {
namespace {

const Option* find_option(std::span<const Option> options, std::string_view word) {
  // One dash before a long name is Go's style, which go-runc uses for -no-subreaper.
  const std::string_view name = word.substr(word.starts_with("--") ? 2 : 1);
  const auto found = std::ranges::find_if(options, [&](const Option& option) {
    return option.name == name ||
           (name.size() == 1 && !word.starts_with("--") && option.letter == name[0]);
  });
  return found == options.end() ? nullptr : &*found;
}

// The error for an unknown option, with the option that the user probably meant.
Error unknown_option(std::string_view word, std::span<const Option> options) {
  if (find_option(global_options(), word) != nullptr)
    return Error(
        0, fmt::format("{} is an option of ocirun itself: it stands before the command", word));
  const std::string_view letters = word.substr(1);
  if (letters.find_first_not_of("0123456789") == std::string_view::npos ||
      linux::parse_signal(letters))
    return Error(0, fmt::format("unknown option {}: the signal is an operand: ocirun kill ID {}",
                                word, letters));
  if (find_option(options, "--tty") != nullptr &&
      (letters == "i" || letters == "it" || letters == "ti" || word == "--interactive"))
    return Error(0,
                 fmt::format("unknown option {}: there is no -i: standard input is always passed; "
                             "use -t for a terminal",
                             word));
  const std::string_view name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  std::vector<std::string_view> names;
  for (const Option& option : options) names.push_back(option.name);
  if (const auto near = bundle::nearest(name, names); name.size() > 2 && !near.empty())
    return Error(0, fmt::format("unknown option {} (did you mean --{}?); see --help", word, near));
  return Error(0, fmt::format("unknown option {}; see --help", word));
}

bool is_false(std::string_view value) {
  return value == "false" || value == "0" || value == "f" || value == "F";
}
bool is_true(std::string_view value) {
  return value == "true" || value == "1" || value == "t" || value == "T";
}

}  // namespace

std::optional<std::string> Arguments::value(std::string_view option) const {
  const auto [begin, end] = values_.equal_range(option);
  if (begin == end || std::prev(end)->second.empty()) return std::nullopt;
  return std::prev(end)->second;
}

std::vector<std::string> Arguments::all(std::string_view option) const {
  std::vector<std::string> found;
  const auto [begin, end] = values_.equal_range(option);
  for (auto at = begin; at != end; ++at)
    if (!at->second.empty()) found.push_back(at->second);
  return found;
}

Result<int> Arguments::number(std::string_view option, int otherwise, int most) const {
  const auto text = value(option);
  if (!text) return otherwise;
  const auto number = linux::number<int>(*text);
  if (!number || *number < 0 || *number > most)
    return refuse("--{} {}: must be a number from 0 to {}", option, *text, most);
  return *number;
}

std::optional<HostPath> Arguments::path(std::string_view option) const {
  auto text = value(option);
  if (!text) return std::nullopt;
  return HostPath(std::move(*text));
}

Result<ContainerId> Arguments::id() const {
  if (positionals.empty()) return refuse("a container id is missing");
  return ContainerId::parse(positionals.front());
}

Result<Arguments> parse_words(std::span<const std::string> words, std::span<const Option> options,
                              OptionPlacement placement, std::size_t* consumed) {
  Arguments arguments;
  std::size_t index = 0;
  for (bool only_positionals = false; index < words.size(); ++index) {
    const std::string_view word = words[index];
    if (only_positionals || word.size() < 2 || word[0] != '-') {
      if (consumed != nullptr) break;
      arguments.positionals.emplace_back(word);
      only_positionals |= placement == OptionPlacement::kUntilPositional;
      continue;
    }
    if (word == "--") {
      only_positionals = true;
      continue;
    }
    const std::size_t equals = word.find('=');
    const Option* option = find_option(options, word.substr(0, equals));
    if (option == nullptr) return std::unexpected(unknown_option(word.substr(0, equals), options));
    const bool has_value = equals != std::string_view::npos;
    if (option->value.empty()) {
      const std::string_view value = has_value ? word.substr(equals + 1) : "true";
      if (is_false(value)) {
        arguments.values_.erase(std::string(option->name));
      } else if (is_true(value)) {
        arguments.values_.emplace(option->name, "true");
      } else {
        return refuse("{}: takes no value but true or false", word);
      }
      continue;
    }
    if (!has_value && index + 1 == words.size())
      return refuse("{}: a value ({}) is missing", word, option->value);
    arguments.values_.emplace(option->name,
                              has_value ? std::string(word.substr(equals + 1)) : words[++index]);
  }
  if (consumed != nullptr) *consumed = index;
  return arguments;
}

}  // namespace ocirun::runtime::cli
