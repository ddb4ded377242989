#include "bundle/cli/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "linux/base/text.hpp"

namespace ocirun::bundle::cli {
namespace {

bool is_false(std::string_view value) {
  return value == "false" || value == "0" || value == "f" || value == "F";
}
bool is_true(std::string_view value) {
  return value == "true" || value == "1" || value == "t" || value == "T";
}

}  // namespace

std::optional<std::string> Arguments::value(std::string_view option) const {
  const auto [begin, end] = values_.equal_range(option);
  if (begin == end) return std::nullopt;
  const std::string& last = std::prev(end)->second;
  if (last.empty() && empty_value_ == EmptyValue::kIsNone) return std::nullopt;
  return last;
}

std::vector<std::string> Arguments::values(std::string_view option) const {
  std::vector<std::string> found;
  const auto [begin, end] = values_.equal_range(option);
  for (auto at = begin; at != end; ++at)
    if (!at->second.empty() || empty_value_ == EmptyValue::kCounts) found.push_back(at->second);
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

void Arguments::set_default(std::string_view option, std::string value) {
  if (!has(option)) values_.emplace(option, std::move(value));
}

std::vector<std::string> Arguments::words_but(std::span<const Option> options,
                                              std::span<const std::string_view> left_out) const {
  std::vector<std::string> words;
  for (const Option& option : options) {
    if (std::ranges::find(left_out, option.name) != left_out.end()) continue;
    const auto [begin, end] = values_.equal_range(option.name);
    for (auto at = begin; at != end; ++at) {
      const std::string& value = at->second;
      words.push_back(option.value.empty() || (value.empty() && may_lack_value(option))
                          ? fmt::format("--{}", option.name)
                          : fmt::format("--{}={}", option.name, value));
    }
  }
  return words;
}

const Option* find_option(std::span<const Option> options, std::string_view written) {
  const bool is_long = written.starts_with("--");
  const std::string_view name = written.substr(is_long ? 2 : 1);
  const auto found = std::ranges::find_if(options, [&](const Option& option) {
    return option.name == name || (name.size() == 1 && !is_long && option.letter == name[0]);
  });
  return found == options.end() ? nullptr : &*found;
}

std::vector<const Option*> options_of_letters(std::span<const Option> options,
                                              std::string_view written) {
  std::vector<const Option*> together;
  if (written.size() < 3 || written[1] == '-') return {};
  for (const char letter : written.substr(1)) {
    if (!together.empty() && !together.back()->value.empty()) return {};
    const auto row = std::ranges::find(options, letter, &Option::letter);
    if (row == options.end()) return {};
    together.push_back(&*row);
  }
  return together;
}

const Syntax* find_syntax(const Program& program, std::string_view name) {
  const auto found = std::ranges::find(program.commands, name, &Syntax::name);
  return found == program.commands.end() ? nullptr : *found;
}

Reader::Reader(const Program& program, const Syntax* syntax) : program_(program), syntax_(syntax) {
  arguments_.empty_value_ = program.empty_value;
}

std::span<const Option> Reader::options() const {
  return syntax_ == nullptr ? program_.options : syntax_->options;
}

bool Reader::is_operand(std::string_view word) const {
  return waiting_ == nullptr && (has_only_operands_ || word.size() < 2 || word[0] != '-');
}

void Reader::add_operand(std::string_view word) {
  const bool ends_at_operand =
      syntax_ != nullptr && syntax_->placement == OptionPlacement::kUntilOperand;
  // `exec ID -- PROGRAM`, as kubectl writes it
  if (ends_at_operand && word == "--" && arguments_.operands_.size() == 1 && !has_ended_twice_) {
    has_ended_twice_ = true;
    return;
  }
  if (was_bare_ && behind_bare_ == kAnyNumber) behind_bare_ = arguments_.operands_.size();
  arguments_.operands_.emplace_back(word);
  has_only_operands_ = has_only_operands_ || ends_at_operand;
}

Result<void> Reader::read(std::string_view word) {
  if (waiting_ != nullptr) {
    arguments_.values_.emplace(std::exchange(waiting_, nullptr)->name, word);
    return {};
  }
  if (is_operand(word)) {
    add_operand(word);
    was_bare_ = false;
    return {};
  }
  was_bare_ = false;
  if (word == "--") {
    has_only_operands_ = true;
    return {};
  }
  const std::size_t equals = word.find('=');
  const std::string_view written = word.substr(0, equals);
  const Option* option = find_option(options(), written);
  if (option == nullptr) {
    const std::vector<const Option*> together = options_of_letters(options(), written);
    if (together.empty()) return std::unexpected(unknown_option(program_, syntax_, written));
    for (const Option* flag : std::span(together).first(together.size() - 1))
      arguments_.values_.emplace(flag->name, "true");
    option = together.back();
  }
  const bool has_value = equals != std::string_view::npos;
  if (option->value.empty()) {
    const std::string_view value = has_value ? word.substr(equals + 1) : "true";
    if (is_false(value)) {
      arguments_.values_.erase(std::string(option->name));
    } else if (is_true(value)) {
      arguments_.values_.emplace(option->name, "true");
    } else {
      return refuse("{}: takes no value but true or false", word);
    }
  } else if (has_value) {
    arguments_.values_.emplace(option->name, word.substr(equals + 1));
  } else if (may_lack_value(*option)) {
    arguments_.values_.emplace(option->name, "");
    if (behind_bare_ == kAnyNumber) bare_ = option;
    was_bare_ = true;
  } else {
    waiting_ = option;
  }
  return {};
}

Result<Arguments> Reader::finish() {
  if (waiting_ != nullptr)
    return refuse("--{}: a value ({}) is missing", waiting_->name, waiting_->value);
  const std::vector<std::string>& operands = arguments_.operands_;
  if (syntax_ == nullptr) return std::move(arguments_);
  if (operands.size() < syntax_->count.least)
    return refuse("{} is missing; see {} {} --help", syntax_->operands, program_.name,
                  syntax_->name);
  if (operands.size() <= syntax_->count.most) return std::move(arguments_);
  if (behind_bare_ < operands.size())
    return refuse("--{0} {1}: \"{1}\" is taken as an operand: write --{0}={1}", bare_->name,
                  operands[behind_bare_]);
  if (syntax_->count.most == 0)
    return refuse("\"{}\" is one operand too many: {} takes none", operands.front(), syntax_->name);
  return refuse("\"{}\" is one operand too many: {} takes {}", operands[syntax_->count.most],
                syntax_->name, syntax_->operands);
}

Result<Arguments> parse(const Program& program, const Syntax& syntax,
                        std::span<const std::string> words) {
  Reader reader(program, &syntax);
  for (const std::string& word : words) OCIRUN_TRY(reader.read(word));
  return reader.finish();
}

Result<Arguments> parse_before(const Program& program, std::span<const std::string> words,
                               std::size_t& consumed) {
  Reader reader(program, nullptr);
  for (consumed = 0; consumed < words.size() && !reader.is_operand(words[consumed]); ++consumed)
    OCIRUN_TRY(reader.read(words[consumed]));
  return reader.finish();
}

bool ask_for_help(const Syntax& syntax, std::span<const std::string> words) {
  for (const std::string& word : words) {
    if (word == "--help" || word == "-h") return true;
    const bool is_option = word.size() > 1 && word.front() == '-';
    if (word == "--" || (!is_option && syntax.placement == OptionPlacement::kUntilOperand)) break;
  }
  return false;
}

}  // namespace ocirun::bundle::cli
