#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bundle/cli/arguments.hpp"
#include "bundle/json/report.hpp"
#include "linux/base/name_table.hpp"

namespace ocirun::bundle::cli {
namespace {

/// The hint for "-9" and "-KILL": how the signal is written. "" if no command takes a signal.
std::string signal_hint(const Program& program, std::string_view letters) {
  const bool is_number = letters.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_number && !linux::parse_signal(letters)) return {};
  for (const Syntax* command : program.commands)
    for (const Operand& operand : command->completed_operands)
      if (operand.completes == Completes::kSignal)
        return fmt::format(": the signal is an operand: {} {} {} {}", program.name, command->name,
                           command->operands.substr(0, command->operands.find(' ')), letters);
  return {};
}

const Option* option_of(std::span<const Option> options, char letter) {
  const auto row = std::ranges::find(options, letter, &Option::letter);
  return row == options.end() ? nullptr : &*row;
}

/// The letter without an option among letters that stand together, as "x" in "-itx". Nothing if the
/// word is more likely a misspelt name: it does not begin with the letter of a switch, and has
/// several such letters.
std::optional<char> unknown_letter(std::span<const Option> options, std::string_view written) {
  if (written.size() < 3 || written[1] == '-') return std::nullopt;
  const std::string_view letters = written.substr(1);
  const auto is_unknown = [&](char letter) { return option_of(options, letter) == nullptr; };
  const auto first = std::ranges::find_if(letters, is_unknown);
  if (first == letters.end()) return std::nullopt;
  if (is_unknown(letters.front()) && std::ranges::count_if(letters, is_unknown) > 1)
    return std::nullopt;
  return *first;
}

/// The suggestion "-o file" for "-ofile", and "-it -o file" for "-itofile"; "" if the letter of an
/// option that takes a value does not follow switches.
std::string with_value_apart(std::span<const Option> options, std::string_view written) {
  if (written.size() < 3 || written[1] == '-') return {};
  for (std::size_t i = 1; i + 1 < written.size(); ++i) {
    const Option* option = option_of(options, written[i]);
    if (option == nullptr || may_lack_value(*option)) return {};
    if (option->value.empty()) continue;
    const std::string before = i == 1 ? "" : fmt::format("{} ", written.substr(0, i));
    return fmt::format("{}-{} {}", before, option->letter, written.substr(i + 1));
  }
  return {};
}

}  // namespace

Error unknown_option(const Program& program, const Syntax* syntax, std::string_view written) {
  const std::span<const Option> options = syntax == nullptr ? program.options : syntax->options;
  if (syntax != nullptr && find_option(program.options, written) != nullptr)
    return Error(0, fmt::format("{} is an option of {} itself: it stands before the command",
                                written, program.name));
  const std::string hint = signal_hint(program, written.substr(1));
  if (!hint.empty()) return Error(0, fmt::format("unknown option {}{}", written, hint));
  const std::string_view name =
      written.substr(std::min(written.find_first_not_of('-'), written.size()));
  std::vector<std::string_view> names;
  for (const Option& option : options) names.push_back(option.name);
  const std::string_view near = name.size() > 2 ? nearest(name, names) : "";
  const std::string apart = with_value_apart(options, written);
  const auto letter = unknown_letter(options, written);
  if (near.empty() && apart.empty() && letter)
    return Error(0, fmt::format("unknown option -{} in {}; see --help", *letter, written));
  if (near.empty() && apart.empty())
    return Error(0, fmt::format("unknown option {}; see --help", written));
  return Error(0, fmt::format("unknown option {} (did you mean {}{}{}{}?); see --help", written,
                              near.empty() ? "" : "--", near,
                              near.empty() || apart.empty() ? "" : ", or ", apart));
}

Error unknown_command(const Program& program, std::string_view word, std::string_view meant) {
  std::vector<std::string_view> names;
  for (const Syntax* command : program.commands) names.push_back(command->name);
  const std::string_view near = meant.empty() ? nearest(word, names) : meant;
  const std::string hint = near.empty() ? "" : fmt::format(" (did you mean {}?)", near);
  return Error(0, fmt::format("unknown command \"{}\"{}; see {} --help", word, hint, program.name));
}

}  // namespace ocirun::bundle::cli
