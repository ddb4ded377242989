#include "bundle/cli/help.hpp"

#include <fmt/format.h>

namespace ocirun::bundle::cli {
namespace {

std::string help_line(std::string names, std::string_view text, bool is_repeatable) {
  constexpr std::size_t kColumn = 32;  // where the explanations begin
  if (names.size() > kColumn) names += fmt::format("\n  {:{}}", "", kColumn);
  return fmt::format("  {:{}} {}{}\n", names, kColumn, text, is_repeatable ? "; repeatable" : "");
}

}  // namespace

std::string command_lines(const Program& program) {
  std::string text;
  for (const Syntax* command : program.commands)
    text +=
        help_line(fmt::format("{} {}", command->name, command->operands), command->summary, false);
  return text;
}

std::string option_lines(std::span<const Option> options) {
  std::string text;
  for (const Option& option : options) {
    std::string names = option.letter != 0 ? fmt::format("-{}, --{}", option.letter, option.name)
                                           : fmt::format("    --{}", option.name);
    if (!option.value.empty())
      names += fmt::format("{}{}", may_lack_value(option) ? "" : " ", option.value);
    text += help_line(std::move(names), option.help, option.times == Times::kMany);
  }
  return text;
}

std::string help_text(const Program& program, const Syntax& command) {
  std::string text =
      fmt::format("usage: {} {}{}{}{}\n\n{}\n", program.name, command.name,
                  command.options.empty() ? "" : " [OPTION...]",
                  command.operands.empty() ? "" : " ", command.operands, command.summary);
  if (!command.options.empty()) text += "\noptions:\n" + option_lines(command.options);
  return text;
}

}  // namespace ocirun::bundle::cli
