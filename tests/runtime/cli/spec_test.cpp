#include <sys/stat.h>

#include "runtime/cli/command.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::runtime::cli;
using namespace ocirun::test;

namespace {

Result<int> run_spec_with(const std::vector<std::string>& words) {
  const GlobalOptions options;
  const Log log = must(Log::open(options));
  const Command& command = *find_command("spec");
  OCIRUN_TRY_ASSIGN(const Arguments arguments, bundle::cli::parse(program(), command, words));
  bundle::Recording recording;
  return command.run({.options = options,
                      .log = log,
                      .arguments = arguments,
                      .inheritance = {},
                      .recording = recording});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spec)

BOOST_AUTO_TEST_CASE(a_config_to_start_from_is_written_and_nobody_else_may_change_it) {
  const Scratch scratch;
  for (const mode_t mask : {mode_t{0}, mode_t{022}}) {
    const mode_t old = ::umask(mask);
    BOOST_TEST(must(run_spec_with({"--bundle", scratch.path()})) == 0);
    ::umask(old);
    BOOST_TEST((mode_of(scratch / "config.json") & 022) == 0);
    BOOST_TEST(slurp(scratch / "config.json").find("\"ociVersion\"") != std::string::npos);
    ::unlink((scratch / "config.json").c_str());
  }
}

BOOST_AUTO_TEST_CASE(
    a_config_that_is_there_is_not_overwritten_nor_one_that_dangles) {  // as engines rely on
  const Scratch scratch;
  scratch.file("config.json", "mine");
  BOOST_TEST(must_fail(run_spec_with({"-b", scratch.path()})).find("exists") != std::string::npos);
  BOOST_TEST(slurp(scratch / "config.json") == "mine");
  ::unlink((scratch / "config.json").c_str());
  BOOST_REQUIRE(::symlink((scratch / "elsewhere").c_str(), (scratch / "config.json").c_str()) == 0);
  must_fail(run_spec_with({"-b", scratch.path()}));
  BOOST_TEST(!std::filesystem::exists(scratch / "elsewhere"));
}

BOOST_AUTO_TEST_CASE(a_bundle_that_is_missing_is_an_error) {
  BOOST_TEST(must_fail(run_spec_with({"-b", "/no/such/bundle"})) ==
             "the directory /no/such/bundle does not exist");
}

BOOST_AUTO_TEST_SUITE_END()
