#include "runtime/cli/command.hpp"
#include "runtime/cli/completion.hpp"
#include "tests/bundle/cli/walk.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::runtime::cli;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(command_table)

BOOST_AUTO_TEST_CASE(every_command_takes_the_same_forms_of_each_option) { walk(program()); }

BOOST_AUTO_TEST_CASE(an_empty_value_is_none) {  // scripts pass --user "$U"
  const Words words{"--user", "", "web"};
  BOOST_TEST(!must(bundle::cli::parse(program(), *find_command("exec"), words)).value("user"));
}

BOOST_AUTO_TEST_CASE(the_first_operand_is_the_id) {
  const auto id = [](const Words& words) -> Result<runtime::ContainerId> {
    OCIRUN_TRY_ASSIGN(const Arguments arguments,
                      bundle::cli::parse(program(), *find_command("kill"), words));
    return id_of(arguments);
  };
  BOOST_TEST(must(id({"web1", "TERM"})).string() == "web1");
  for (const char* word : {"", "../x", ".x"}) BOOST_TEST(!id({word}));
}

BOOST_AUTO_TEST_CASE(every_shell_that_is_named_has_a_script) {
  for (const auto& [name, text] : kShells) {
    BOOST_TEST(text->contains(name));
    BOOST_TEST(text->contains(bundle::cli::kCompletionCommand));
  }
}

BOOST_AUTO_TEST_SUITE_END()
