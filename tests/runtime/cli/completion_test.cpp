// The part of the table of commands that the completion scripts are made from.
// integration/completion.bats tests the scripts in their shells.

#include "runtime/cli/completion.hpp"

#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::runtime::cli;
using namespace ocirun::test;

namespace {

void check_words(std::span<const Option> options) {
  for (const Option& option : options) BOOST_TEST_CONTEXT("--" << option.name) {
      const bool has_bars = option.value.contains('|');
      BOOST_TEST((option.completes == Completes::kWords) == has_bars);
      if (has_bars) BOOST_TEST(offered_words(option.completes, option.value).size() >= 2U);
      if (option.value.empty()) BOOST_TEST((option.completes == Completes::kNothing));
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(completion)

BOOST_AUTO_TEST_CASE(a_value_of_words_is_completed_with_them_and_a_switch_with_nothing) {
  check_words(global_options());
  for (const Command& command : all_commands()) check_words(command.options);
}

BOOST_AUTO_TEST_CASE(an_operand_is_widened_by_a_switch_that_the_command_has) {
  for (const Command& command : all_commands())
    for (const Operand& operand : command.completed_operands) {
      if (operand.widened_by.empty()) continue;
      const Option* option = widening_option(command, operand);
      BOOST_REQUIRE_MESSAGE(option != nullptr, command.name << " --" << operand.widened_by);
      BOOST_TEST(option->value.empty());
    }
}

BOOST_AUTO_TEST_CASE(an_operand_that_the_command_does_not_take_is_not_completed) {
  for (const Command& command : all_commands())
    for (std::size_t index = command.most_operands; index < command.completed_operands.size();
         ++index)
      BOOST_TEST((command.completed_operands.at(index).completes == Completes::kNothing),
                 command.name);
}

BOOST_AUTO_TEST_CASE(statuses_are_those_that_suit_and_none_stands_for_all) {
  BOOST_TEST(offered_statuses(runtime::can_start) == "created");
  BOOST_TEST(offered_statuses(runtime::can_kill) == "created running paused");
  BOOST_TEST(offered_statuses(nullptr).empty());
}

BOOST_AUTO_TEST_CASE(every_shell_that_is_named_has_a_script) {
  for (const auto& [name, text] : kShells) BOOST_TEST(text().contains(name));
}

BOOST_AUTO_TEST_SUITE_END()
