#include "runtime/cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"
#include "linux/process/capabilities.hpp"

namespace ocirun::runtime::cli {

std::vector<Option> completed_options(const Command& command) {
  std::vector<Option> options(command.options.begin(), command.options.end());
  options.push_back({.name = "help", .letter = 'h', .help = "print the options of the command"});
  return options;
}

std::vector<std::string> offered_words(Completes completes, std::string_view text) {
  const auto owned = [](const auto& names) {
    return std::vector<std::string>(names.begin(), names.end());
  };
  switch (completes) {
    case Completes::kWords:
      return owned(linux::words(text, '|'));
    case Completes::kCapability:
      return linux::capability_names();
    case Completes::kSignal:
      return owned(linux::signal_names());
    case Completes::kNothing:
    case Completes::kFile:
    case Completes::kDirectory:
    case Completes::kContainer:
      break;
  }
  return {};
}

std::string offered_statuses(bool (*wanted)(Status)) {
  std::vector<std::string_view> names;
  if (wanted != nullptr)
    for (const auto& [name, status] : bundle::kStatusNames)
      if (wanted(status)) names.push_back(name);
  return fmt::format("{}", fmt::join(names, " "));
}

const Option* widening_option(const Command& command, const Operand& operand) {
  const auto found = std::ranges::find(command.options, operand.widened_by, &Option::name);
  return found == command.options.end() ? nullptr : &*found;
}

std::string container_arguments(const Command& command, const Operand& operand) {
  std::string statuses = offered_statuses(operand.wanted);
  const Option* wide = widening_option(command, operand);
  if (wide == nullptr) return statuses;
  return fmt::format("{} {} {}", statuses, fmt::join(spellings(*wide), " "),
                     offered_statuses(operand.widened_to));
}

std::vector<std::string> spellings(const Option& option) {
  std::vector<std::string> all{fmt::format("--{}", option.name)};
  if (option.letter != 0) all.push_back(fmt::format("-{}", option.letter));
  return all;
}

}  // namespace ocirun::runtime::cli
