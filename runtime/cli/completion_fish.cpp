#include "runtime/cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ocirun::runtime::cli {
namespace {

constexpr std::string_view kFishBegin =
    "# fish completion for ocirun, made by `ocirun completion fish`\n\n";

constexpr std::string_view kFishMiddle = R"(
# What stands before the cursor: command, number of operands, "options" or "ended", state root, and
# the options that were given to the command.
function __ocirun_place
    set -l command ''
    set -l option ''
    set -l root ''
    set -l given
    set -l operands 0
    set -l ended options
    for word in (commandline -opc)[2..-1]
        if test -n "$option"
            test "$command$option" = --root; and set root $word
            set option ''
        else if test $ended = options -a "$word" = --
            set ended ended
        else if test $ended = options; and string match -qr '^-.' -- "$word"
            set -l name (string replace -r '=.*' '' -- "$word")
            string match -qr '^-[^-].' -- $name; and set name -$name
            set -a given $name
            if __ocirun_takes_value "$command" $name; and not string match -q '*=*' -- "$word"
                set option $name
            else if test "$command$name" = --root
                set root (string replace -r '^[^=]*=' '' -- "$word")
            end
        else if test -z "$command"
            set command $word
            set ended options
        else
            set operands (math $operands + 1)
            __ocirun_ends_options $command; and set ended ended
        end
    end
    printf '%s\n' "$command" $operands $ended "$root" $given
end

# __ocirun_at COMMAND N: the Nth operand of that command comes next.
function __ocirun_at
    set -l place (__ocirun_place)
    test "$place[1]" = "$argv[1]" -a "$place[2]" = "$argv[2]"
end

# __ocirun_options_of COMMAND: an option of that command may come next.
function __ocirun_options_of
    set -l place (__ocirun_place)
    test "$place[1]" = "$argv[1]" -a "$place[3]" = options
end

# __ocirun_containers [STATUS...] [OPTION... [STATUS...]]: ids of containers of these statuses, or of any; of the
# statuses that follow the options when one of the options is given.
function __ocirun_containers
    set -l place (__ocirun_place)
    set -l statuses
    set -l options
    set -l wide
    for word in $argv
        if string match -q -- '-*' $word
            set -a options $word
        else if set -q options[1]
            set -a wide $word
        else
            set -a statuses $word
        end
    end
    for option in $options
        contains -- $option $place[5..-1]; and set statuses $wide
    end
    set -l root
    test -n "$place[4]"; and set root --root $place[4]
    ocirun $root list 2>/dev/null | begin
        read -l header
        while read -l id pid state rest
            if test (count $statuses) -eq 0; or contains -- $state $statuses
                printf '%s\t%s\n' $id $state
            end
        end
    end
end

complete -c ocirun -f
)";

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

std::string offered(Completes completes, std::string_view text) {
  if (completes == Completes::kFile) return " -r -F";
  if (completes == Completes::kDirectory) return " -x -a '(__fish_complete_directories)'";
  const auto words = offered_words(completes, text);
  if (words.empty()) return " -x";
  return fmt::format(" -x -a '{}'", fmt::join(words, " "));
}

std::string fish_option_lines(std::string_view command, std::span<const Option> options) {
  std::string text;
  for (const Option& option : options) {
    text += fmt::format("complete -c ocirun -n '__ocirun_options_of \"{}\"' -l {}", command,
                        option.name);
    if (option.letter != 0) text += fmt::format(" -s {}", option.letter);
    if (!option.value.empty()) text += offered(option.completes, option.value);
    text += fmt::format(" -d {}\n", quoted(option.help));
  }
  return text;
}

std::string fish_operand_line(const Command& command, std::size_t index) {
  const Operand& operand = command.completed_operands.at(index);
  if (operand.completes == Completes::kNothing) return {};
  std::string what = offered(operand.completes, command.operands);
  if (operand.completes == Completes::kContainer)
    what = fmt::format(" -a '(__ocirun_containers {})'", container_arguments(command, operand));
  std::string text =
      fmt::format("complete -c ocirun -n '__ocirun_at {} {}'{}\n", command.name, index, what);
  if (operand.completes == Completes::kSignal)
    text += fmt::format(
        "complete -c ocirun -n '__ocirun_at {} {}; and string match -q \"SIG*\" (commandline -ct)' "
        "-x -a 'SIG{}'\n",
        command.name, index, fmt::join(offered_words(operand.completes, {}), " SIG"));
  return text;
}

std::string options_with_a_value(std::string_view command, std::span<const Option> options) {
  std::string text;
  for (const Option& option : options)
    if (!option.value.empty())
      for (const std::string& spelling : spellings(option))
        text += fmt::format(" '{} {}'", command, spelling);
  return text;
}

}  // namespace

std::string fish_completion_text() {
  std::string values = options_with_a_value("", global_options());
  std::string ending, lines = fish_option_lines("", global_options());
  for (const Command& command : all_commands()) {
    const auto options = completed_options(command);
    values += options_with_a_value(command.name, options);
    if (command.placement == OptionPlacement::kUntilPositional)
      ending += fmt::format(" {}", command.name);
    lines += fmt::format("complete -c ocirun -n '__ocirun_at \"\" 0' -a {} -d {}\n", command.name,
                         quoted(command.summary));
    lines += fish_option_lines(command.name, options);
    for (std::size_t index = 0; index < command.completed_operands.size(); ++index)
      lines += fish_operand_line(command, index);
  }
  return fmt::format(
      "{}# __ocirun_takes_value COMMAND OPTION\n"
      "function __ocirun_takes_value\n    contains -- \"$argv\"{}\nend\n\n"
      "# __ocirun_ends_options COMMAND: whether its first operand does.\n"
      "function __ocirun_ends_options\n    contains -- $argv[1]{}\nend\n{}{}",
      kFishBegin, values, ending, kFishMiddle, lines);
}

}  // namespace ocirun::runtime::cli
