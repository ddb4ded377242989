#include "runtime/cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ocirun::runtime::cli {
namespace {

constexpr std::string_view kBashBegin =
    "# bash completion for ocirun, made by `ocirun completion bash`\n\n";

// The end of the script. The functions before this text are generated from the table of commands.
// These functions set $options and $value.
constexpr std::string_view kBashEnd = R"(
# _ocirun_add PREFIX WORD...: the words that begin as what was typed.
_ocirun_add() {
  local prefix=$1 candidate
  shift
  for candidate; do
    [[ $candidate != "$word"* ]] || COMPREPLY+=("$prefix$candidate")
  done
}

# _ocirun_containers [STATUS...]: ids of containers of these statuses, or of any.
_ocirun_containers() {
  local id status
  {
    read -r _
    while read -r id _ status _; do
      [[ $# -gt 0 && " $* " != *" $status "* ]] || _ocirun_add '' "$id"
    done
  } < <(ocirun "${root[@]}" list 2>/dev/null)
}

# _ocirun_offer PREFIX: what $value names.
_ocirun_offer() {
  local -a kind
  read -ra kind <<<"$value"
  case ${kind[0]} in
    words) _ocirun_add "$1" "${kind[@]:1}" ;;
    signals)
      if [[ $word == SIG* ]]; then kind=("${kind[@]/#/SIG}"); fi
      _ocirun_add "$1" "${kind[@]:1}" ;;
    containers) _ocirun_containers "${kind[@]:1}" ;;
    file) compopt -o default ;;
    directory) compopt -o dirnames ;;
  esac
}

_ocirun() {
  local command='' option='' value='' options='' ended='' given=' ' operands=0 word name i
  local line=$COMP_LINE
  local -a root=() words=() split
  COMPREPLY=()
  # bash divides words at = and : too; here a word ends at a blank.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $i -gt 0 && -n $word && $line != [[:blank:]]* ]]; then
      words[${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    line=${line#"${line%%[![:blank:]]*}"}
    line=${line#"$word"}
  done
  for word in "${words[@]:1:${#words[@]}-2}"; do
    if [[ -n $option ]]; then
      [[ $command$option != --root ]] || root=(--root "$word")
      option=
    elif [[ -z $ended && $word == -- ]]; then
      ended=1
    elif [[ -z $ended && $word == -?* ]]; then
      name=${word%%=*}
      [[ $name != -[!-]?* ]] || name=-$name
      given+="$name "
      _ocirun_value "$command" "$name"
      if [[ -n $value && $word != *=* ]]; then
        option=$name
      elif [[ $command$name == --root ]]; then
        root=(--root "${word#*=}")
      fi
    elif [[ -z $command ]]; then
      command=$word ended=
    else
      operands=$((operands + 1))
      _ocirun_ends_options "$command" && ended=1
    fi
  done
  word=${words[${#words[@]}-1]}
  if [[ -n $option ]]; then
    _ocirun_value "$command" "$option"
    _ocirun_offer ''
  elif [[ -z $ended && $word == -*=* ]]; then
    name=${word%%=*} word=${word#*=}
    _ocirun_value "$command" "$name"
    if [[ $COMP_WORDBREAKS == *=* ]]; then _ocirun_offer ''; else _ocirun_offer "$name="; fi
  else
    _ocirun_operand "$command" $((operands + 1))
    if [[ -z $ended && ($word == -* || -z $value) ]]; then
      _ocirun_options "$command"
      read -ra split <<<"$options"
      _ocirun_add '' "${split[@]}"
    else
      _ocirun_offer ''
    fi
  fi
}
complete -F _ocirun ocirun
)";

std::string value_of_option(const Option& option) {
  const auto words = offered_words(option.completes, option.value);
  if (!words.empty()) return fmt::format("words {}", fmt::join(words, " "));
  if (option.completes == Completes::kFile) return "file";
  if (option.completes == Completes::kDirectory) return "directory";
  return "anything";
}

std::string value_of_operand(const Command& command, const Operand& operand) {
  const auto words = offered_words(operand.completes, command.operands);
  if (!words.empty())
    return fmt::format("{} {}", operand.completes == Completes::kSignal ? "signals" : "words",
                       fmt::join(words, " "));
  if (operand.completes == Completes::kDirectory) return "directory";
  return fmt::format("containers {}", offered_statuses(operand.wanted));
}

// Returns a line of the shell function _ocirun_options, and adds lines of the shell function
// _ocirun_value to `values`.
std::string options_line(std::string_view command, std::span<const Option> options,
                         std::string& values) {
  std::string names;
  for (const Option& option : options) {
    names += fmt::format("--{} ", option.name);
    if (option.value.empty()) continue;
    for (const std::string& spelling : spellings(option))
      values +=
          fmt::format("    '{} {}') value='{}' ;;\n", command, spelling, value_of_option(option));
  }
  return fmt::format("    '{}') options='{}' ;;\n", command, names);
}

std::string bash_operand_line(const Command& command, std::size_t index) {
  const Operand& operand = command.completed_operands.at(index);
  if (operand.completes == Completes::kNothing) return {};
  std::string line = fmt::format("    '{} {}') value='{}'", command.name, index + 1,
                                 value_of_operand(command, operand));
  if (const Option* wide = widening_option(command, operand))
    for (const std::string& spelling : spellings(*wide))
      line += fmt::format("\n      [[ $given != *' {} '* ]] || value='containers {}'", spelling,
                          offered_statuses(operand.widened_to));
  return line + " ;;\n";
}

}  // namespace

std::string bash_completion_text() {
  std::string names, operands, values, ending;
  std::string options = options_line("", global_options(), values);
  for (const Command& command : all_commands()) {
    names += fmt::format(" {}", command.name);
    options += options_line(command.name, completed_options(command), values);
    for (std::size_t index = 0; index < command.completed_operands.size(); ++index)
      operands += bash_operand_line(command, index);
    if (command.placement == OptionPlacement::kUntilPositional)
      ending += fmt::format("{}{}", ending.empty() ? "" : " | ", command.name);
  }
  return fmt::format(
      "{}# _ocirun_options COMMAND: its options; of no command: those before it.\n"
      "_ocirun_options() {{\n  case $1 in\n{}    *) options= ;;\n  esac\n}}\n\n"
      "# _ocirun_value COMMAND OPTION: what its value is; empty: it has none.\n"
      "_ocirun_value() {{\n  case \"$1 $2\" in\n{}    *) value= ;;\n  esac\n}}\n\n"
      "# _ocirun_operand COMMAND N: what its Nth operand is.\n"
      "_ocirun_operand() {{\n  case \"$1 $2\" in\n    ' 1') value='words{}' ;;\n{}    *) value= "
      ";;\n"
      "  esac\n}}\n\n"
      "# _ocirun_ends_options COMMAND: whether its first operand does.\n"
      "_ocirun_ends_options() {{ case $1 in {}) ;; *) return 1 ;; esac; }}\n{}",
      kBashBegin, options, values, names, operands, ending, kBashEnd);
}

}  // namespace ocirun::runtime::cli
