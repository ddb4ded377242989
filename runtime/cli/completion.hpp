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

/// The options of a command, and --help.
std::vector<Option> completed_options(const Command& command);
/// The words that completion offers: for kWords those between the bars of `text`, for kCapability
/// and kSignal all names. Empty for everything else.
std::vector<std::string> offered_words(Completes completes, std::string_view text);
/// The names of the statuses that suit `wanted`, separated by spaces: "created running". "" if
/// `wanted` is null.
std::string offered_statuses(bool (*wanted)(Status));
/// The option Operand::widened_by of the command; nullptr if the operand has none.
const Option* widening_option(const Command& command, const Operand& operand);
/// The arguments, separated by spaces, of the functions that complete containers in zsh and fish:
/// the statuses of Operand::wanted, the spellings of the option widened_by, and the statuses of
/// widened_to: "created running --force -f stopped". Without that option, the statuses alone.
std::string container_arguments(const Command& command, const Operand& operand);
/// The option as it is written: "--force", and "-f" if the option has a letter.
std::vector<std::string> spellings(const Option& option);

}  // namespace ocirun::runtime::cli
