// The help is made from the table of commands. These tests check that the table is complete.

#include <algorithm>
#include <set>
#include <sstream>

#include "bundle/cli/help.hpp"
#include "runtime/cli/command.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::runtime::cli;
using namespace ocirun::test;

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void check_options(std::span<const Option> options, const std::string& where) {
  std::set<std::string_view> names;
  std::set<char> letters;
  for (const Option& option : options) {
    BOOST_TEST_CONTEXT(where << " --" << option.name) {
      BOOST_TEST(!option.name.empty());
      BOOST_TEST(!option.name.starts_with('-'));
      BOOST_TEST(!option.help.empty());
      BOOST_TEST(names.insert(option.name).second);
      if (option.letter != 0) BOOST_TEST(letters.insert(option.letter).second);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(help)

BOOST_AUTO_TEST_CASE(the_commands_that_engines_call_exist) {  // as engines rely on
  for (const char* name : {"create", "start", "run", "state", "kill", "delete", "exec", "list",
                           "ps", "pause", "resume", "spec", "features"}) {
    const Command* command = find_command(name);
    BOOST_REQUIRE_MESSAGE(command != nullptr, name);
    BOOST_TEST(command->name == name);
  }
  for (const char* name : {"", "creat", "createx", "Create", "--create"})
    BOOST_TEST((find_command(name) == nullptr));
}

BOOST_AUTO_TEST_CASE(the_table_of_commands_is_complete_and_without_contradictions) {
  std::set<std::string_view> names;
  for (const Command& command : all_commands()) {
    BOOST_TEST_CONTEXT(command.name) {
      BOOST_TEST(names.insert(command.name).second);
      BOOST_REQUIRE(find_command(command.name) != nullptr);
      BOOST_TEST(find_command(command.name)->summary == command.summary);
      BOOST_TEST((command.run != nullptr) == (command.executable != Executable::kOther));
      BOOST_TEST(!command.summary.empty());
      BOOST_TEST(command.count.least <= command.count.most);
      BOOST_TEST((command.count.most == 0) == command.operands.empty());
      BOOST_TEST(command.failure_status == (command.name == "exec" ? 255 : 1));  // runc's
      // Commands that make processes in containers run from the sealed executable.
      const bool clones = command.name == "create" || command.name == "run" ||
                          command.name == "exec" || command.name == "restore";
      BOOST_TEST((command.executable == Executable::kSealed) == clones);
    }
    check_options(command.options, std::string(command.name));
  }
  check_options(program().options, "global");
}

BOOST_AUTO_TEST_CASE(
    the_options_that_engines_give_are_known_where_they_give_them) {  // as engines rely on
  const auto knows = [](std::span<const Option> options, std::string_view name, bool takes_value) {
    const auto found = std::ranges::find(options, name, &Option::name);
    BOOST_REQUIRE_MESSAGE(found != options.end(), name);
    BOOST_CHECK_MESSAGE(!found->value.empty() == takes_value, name);
  };
  for (const char* name : {"root", "log", "log-format", "criu", "rootless", "cgroup-manager"})
    knows(program().options, name, true);
  for (const char* name : {"debug", "systemd-cgroup", "version"})
    knows(program().options, name, false);
  for (const char* command : {"create", "run"}) {
    for (const char* name : {"bundle", "pid-file", "console-socket", "preserve-fds"})
      knows(find_command(command)->options, name, true);
    for (const char* name : {"no-pivot", "no-new-keyring", "no-subreaper"})
      knows(find_command(command)->options, name, false);
  }
  knows(find_command("run")->options, "detach", false);
  for (const char* name : {"process", "pid-file", "console-socket", "preserve-fds", "cwd", "env",
                           "user", "cap", "cgroup"})
    knows(find_command("exec")->options, name, true);
  for (const char* name : {"detach", "tty", "no-new-privs", "ignore-paused", "no-subreaper"})
    knows(find_command("exec")->options, name, false);
  knows(find_command("kill")->options, "all", false);
  knows(find_command("delete")->options, "force", false);
  knows(find_command("ps")->options, "format", true);
  knows(find_command("list")->options, "format", true);
  knows(find_command("list")->options, "quiet", false);
  const auto& kill = find_command("kill")->options;
  BOOST_TEST(std::ranges::find(kill, 'a', &Option::letter)->name == "all");  // CRI-O: kill -a
}

BOOST_AUTO_TEST_CASE(the_help_lists_every_command_with_its_summary_and_every_global_option) {
  const std::string text = help_text();
  for (const Command& command : all_commands()) {
    BOOST_CHECK_MESSAGE(has(text, "\n  " + std::string(command.name) + " "), command.name);
    BOOST_CHECK_MESSAGE(has(text, command.summary), command.name);
  }
  for (const Option& option : program().options) {
    BOOST_CHECK_MESSAGE(has(text, "--" + std::string(option.name)), option.name);
    BOOST_CHECK_MESSAGE(has(text, option.help), option.name);
  }
  BOOST_TEST(text.ends_with('\n'));
}

BOOST_AUTO_TEST_CASE(the_help_of_a_command_tells_its_usage_and_every_option) {
  for (const Command& command : all_commands()) {
    const std::string text = bundle::cli::help_text(program(), command);
    BOOST_TEST_CONTEXT(command.name) {
      BOOST_TEST(has(text, "ocirun " + std::string(command.name)));
      BOOST_TEST(has(text, command.operands));
      BOOST_TEST(has(text, command.summary));
      for (const Option& option : command.options) {
        const auto lines = lines_of(text);
        const auto line = std::ranges::find_if(lines, [&](const std::string& candidate) {
          return candidate.starts_with("  ") &&
                 has(candidate + " ", "--" + std::string(option.name) + " ");
        });
        BOOST_REQUIRE_MESSAGE(line != lines.end(), option.name);
        BOOST_TEST(has(*line, option.value));
        BOOST_TEST(has(text, option.help));
        if (option.letter != 0) BOOST_TEST(has(*line, std::string("-") + option.letter + ","));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_usage_has_no_blank_at_its_end_and_explanations_begin_in_one_column) {
  for (const Command& command : all_commands())
    for (const std::string& line : lines_of(bundle::cli::help_text(program(), command)))
      BOOST_TEST(!line.ends_with(' '), command.name << ": " << line);
  const std::string text = help_text();
  for (const Option& option : program().options) {
    const std::size_t at = text.find(option.help);
    BOOST_TEST(at - text.rfind('\n', at) == 36U, option.name);
  }
}

// dockerd takes the version from any line with the word "version"; go-runc wants the first line to
// begin with the runtime's name.
BOOST_AUTO_TEST_CASE(
    exactly_one_line_of_the_version_text_has_the_word_version) {  // as engines rely on
  const auto lines = lines_of(version_text());
  BOOST_TEST(std::ranges::count_if(lines, [](const auto& line) { return has(line, "version"); }) ==
             1);
  BOOST_REQUIRE(lines.size() >= 3u);
  BOOST_TEST(lines[0].starts_with("ocirun version "));
  BOOST_TEST(lines[0].size() > std::string("ocirun version ").size());
  BOOST_TEST(lines[1].starts_with("commit: "));
  BOOST_TEST(lines[2].starts_with("spec: 1."));
  BOOST_TEST(version_text().ends_with('\n'));
}

BOOST_AUTO_TEST_SUITE_END()
