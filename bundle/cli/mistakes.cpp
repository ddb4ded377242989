#include <fmt/format.h>

#include <algorithm>

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

/// The hint for "-it": there is no -i. The hint for "-dt", the letters of two switches: each letter
/// stands apart. Otherwise "".
std::string letters_hint(std::span<const Option> options, std::string_view written) {
  const std::string_view letters = written.substr(1);
  const auto row = [&](char letter) { return std::ranges::find(options, letter, &Option::letter); };
  if (find_option(options, "--tty") != nullptr &&
      (letters == "i" || letters == "it" || letters == "ti" || written == "--interactive"))
    return ": there is no -i: standard input is always passed; use -t for a terminal";
  if (letters.size() < 2 || letters.front() == '-') return {};
  std::string apart;
  for (const char letter : letters) {
    if (row(letter) == options.end() || !row(letter)->value.empty()) return {};
    apart += fmt::format(" -{}", letter);
  }
  return fmt::format(": each letter stands apart: write{}", apart);
}

/// The suggestion "-o file" for "-ofile"; "" if no option has the letter and takes a value.
std::string with_value_apart(std::span<const Option> options, std::string_view written) {
  if (written.size() < 3 || written[1] == '-') return {};
  const Option* option = find_option(options, written.substr(0, 2));
  if (option == nullptr || option->value.empty() || may_lack_value(*option)) return {};
  return fmt::format("-{} {}", option->letter, written.substr(2));
}

}  // namespace

Error unknown_option(const Program& program, const Syntax* syntax, std::string_view written) {
  const std::span<const Option> options = syntax == nullptr ? program.options : syntax->options;
  if (syntax != nullptr && find_option(program.options, written) != nullptr)
    return Error(0, fmt::format("{} is an option of {} itself: it stands before the command",
                                written, program.name));
  std::string hint = signal_hint(program, written.substr(1));
  if (hint.empty()) hint = letters_hint(options, written);
  if (!hint.empty()) return Error(0, fmt::format("unknown option {}{}", written, hint));
  const std::string_view name =
      written.substr(std::min(written.find_first_not_of('-'), written.size()));
  std::vector<std::string_view> names;
  for (const Option& option : options) names.push_back(option.name);
  const std::string_view near = name.size() > 2 ? nearest(name, names) : "";
  const std::string apart = with_value_apart(options, written);
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
