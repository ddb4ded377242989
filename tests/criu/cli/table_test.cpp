// The commands of criu/ beside those of the runtime. criu_tests also has the tests of the runtime's
// table, help and completion, which then read these commands too.
#include "criu/cli/table.hpp"

#include <algorithm>

#include "tests/child_test.hpp"

using namespace ocirun::runtime::cli;

namespace {

struct WithCriu {
  WithCriu() { add_commands(kCriuCommands); }
};

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(WithCriu);

BOOST_AUTO_TEST_SUITE(criu_commands)

BOOST_AUTO_TEST_CASE(both_commands_are_in_the_table_once_and_behind_exec) {
  std::vector<std::string_view> names;
  for (const Command& command : all_commands()) names.push_back(command.name);
  const auto exec = std::ranges::find(names, "exec");
  BOOST_REQUIRE(names.end() - exec > 3);
  BOOST_TEST(exec[1] == "checkpoint");
  BOOST_TEST(exec[2] == "restore");
  BOOST_TEST(std::ranges::count(names, "restore") == 1);
}

BOOST_AUTO_TEST_CASE(features_learns_whether_criu_is_there) {
  ocirun::runtime::GlobalOptions options;
  options.criu = "/nonexistent/criu";
  BOOST_TEST(!added_commands().can_checkpoint(options));
}

BOOST_AUTO_TEST_SUITE_END()
