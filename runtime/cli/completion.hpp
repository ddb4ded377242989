#pragma once

#include "linux/base/name_table.hpp"
#include "runtime/cli/command.hpp"

namespace ocirun::runtime::cli {

/// The completion script of a shell, made from the table of commands.
std::string bash_completion_text();
std::string zsh_completion_text();
std::string fish_completion_text();

inline constexpr linux::Named<std::string (*)()> kShells[] = {
    {"bash", bash_completion_text}, {"zsh", zsh_completion_text}, {"fish", fish_completion_text}};

/// The options of a command and --help, which each has.
std::vector<Option> completed_options(const Command& command);
/// The words that may be given: those between the bars of `text`, or the names of all capabilities
/// or signals. None for what is not a list of words.
std::vector<std::string> offered_words(Completes completes, std::string_view text);
/// "created running": the statuses that suit `wanted`; "" where any does.
std::string offered_statuses(bool (*wanted)(Status));
/// The option that widens the operand to containers of more statuses, or nullptr.
const Option* widening_option(const Command& command, const Operand& operand);
/// What zsh's and fish's functions for containers are told: statuses, the spellings of the option
/// that widens them, and the statuses with it.
std::string container_arguments(const Command& command, const Operand& operand);
/// "--force", and "-f" where there is a letter.
std::vector<std::string> spellings(const Option& option);

}  // namespace ocirun::runtime::cli
