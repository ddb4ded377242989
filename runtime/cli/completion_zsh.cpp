#include "runtime/cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ocirun::runtime::cli {
namespace {

constexpr std::string_view kZshBegin = R"(#compdef ocirun
# zsh completion for ocirun, made by `ocirun completion zsh`

# _ocirun_containers [STATUS...] [OPTION... [STATUS...]]: ids of containers of these statuses, or of any; of the
# statuses that follow the options when one of the options is given.
_ocirun_containers() {
  local id pid state rest word
  local -a statuses wide options found
  for word; do
    if [[ $word == -* ]]; then options+=($word)
    elif (( $#options )); then wide+=($word)
    else statuses+=($word)
    fi
  done
  for word in $options; do
    (( ! ${words[(Ie)$word]} )) || statuses=($wide)
  done
  ocirun $root list 2>/dev/null | {
    read -r rest
    while read -r id pid state rest; do
      (( $#statuses && ! ${statuses[(Ie)$state]} )) || found+=("$id:$state")
    done
  }
  _describe -t containers container found
}

_ocirun_signals() {
  local -a names
  names=($ocirun_signals)
  [[ $PREFIX != SIG* ]] || names=(SIG$^names)
  _wanted signals expl signal compadd -a names
}
)";

// Escapes `text` for a single-quoted specification of _arguments. There, colons separate the parts
// and brackets enclose the help.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (c == ':' || c == '[' || c == ']' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string action(Completes completes, std::string_view text) {
  if (completes == Completes::kFile) return "_files";
  if (completes == Completes::kDirectory) return "_directories";
  const auto words = offered_words(completes, text);
  if (words.empty()) return " ";
  return fmt::format("({})", fmt::join(words, " "));
}

// The options as specifications of _arguments. If an option may come only once, each spelling
// excludes the other spellings.
std::string zsh_option_lines(std::span<const Option> options) {
  std::string text;
  for (const Option& option : options) {
    const auto names = spellings(option);
    for (const std::string& name : names) {
      const std::string group =
          option.times == Times::kMany ? "*" : fmt::format("({})", fmt::join(names, " "));
      text += fmt::format(" \\\n        '{}{}", group, name);
      if (!option.value.empty()) text += name.starts_with("--") ? "=" : "+";
      text += fmt::format("[{}]", escaped(option.help));
      if (!option.value.empty())
        text +=
            fmt::format(":{}:{}", escaped(option.value), action(option.completes, option.value));
      text += "'";
    }
  }
  return text;
}

std::string operand_action(const Command& command, const Operand& operand) {
  if (operand.completes == Completes::kSignal) return " _ocirun_signals";
  if (operand.completes != Completes::kContainer)
    return action(operand.completes, command.operands);
  return fmt::format(" _ocirun_containers {}", container_arguments(command, operand));
}

std::string command_text(const Command& command) {
  const bool ends = command.placement == OptionPlacement::kUntilPositional;
  std::string text =
      fmt::format("    {})\n      _arguments -S{}", command.name, ends ? " -A \"-*\"" : "");
  text += zsh_option_lines(completed_options(command));
  for (std::size_t index = 0; index < command.completed_operands.size(); ++index) {
    const Operand& operand = command.completed_operands.at(index);
    if (index < command.most_operands &&
        (index < command.least_operands || operand.completes != Completes::kNothing))
      text += fmt::format(
          " \\\n        '{}:{}:{}'", index + 1,
          operand.completes == Completes::kSignal ? "SIGNAL" : escaped(command.operands),
          operand_action(command, operand));
  }
  if (ends) text += " \\\n        '*:: : '";
  return text + " && result=0 ;;\n";
}

}  // namespace

std::string zsh_completion_text() {
  std::string text = fmt::format("{}\n_ocirun() {{\n", kZshBegin);
  text +=
      "  local curcontext=$curcontext state line expl result=1\n"
      "  local -A opt_args\n"
      "  local -a root commands ocirun_signals\n";
  text +=
      fmt::format("  ocirun_signals=({})\n", fmt::join(offered_words(Completes::kSignal, {}), " "));
  text += "  commands=(\n";
  for (const Command& command : all_commands())
    text += fmt::format("    '{}:{}'\n", command.name, escaped(command.summary));
  text += "  )\n  _arguments -C -S -A \"-*\"" + zsh_option_lines(global_options());
  text +=
      " \\\n        '1:command:->command' '*::operand:->operands' && result=0\n"
      "  [[ -z ${opt_args[--root]} ]] || root=(--root ${(Q)opt_args[--root]})\n"
      "  case $state in\n"
      "    command) _describe -t commands command commands && result=0\n      return result ;;\n"
      "    operands) ;;\n    *) return result ;;\n  esac\n"
      "  case $words[1] in\n";
  for (const Command& command : all_commands()) text += command_text(command);
  return text +
         "  esac\n  return result\n}\n\n"
         "# An autoloaded function is called the first time that the file is read; `source` is "
         "not.\n"
         "if [[ $funcstack[1] == _ocirun ]]; then _ocirun \"$@\"; else compdef _ocirun ocirun; "
         "fi\n";
}

}  // namespace ocirun::runtime::cli
