#include "pods/prepare/program.hpp"

#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

using Words = std::vector<std::string>;

struct Scene {
  Scratch scratch;
  std::string run(std::string_view script) const {
    const Words words{scratch.script("program", script), "one", "two words"};
    return must_fail(run_program(words));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(programs, Scene)

BOOST_AUTO_TEST_CASE(a_program_gets_its_arguments_and_no_input) {
  const Words words{scratch.script("program", "[ \"$2\" = 'two words' ] && ! read -r line"), "one",
                    "two words"};
  must(run_program(words));
  BOOST_TEST(children_of_this_process() == "");
}

BOOST_AUTO_TEST_CASE(what_a_program_that_fails_says_is_the_error) {
  BOOST_TEST(run("echo out; echo no such thing >&2; exit 3") ==
             "exited with status 3: no such thing");
  BOOST_TEST(run("exit 4") == "exited with status 4");
  BOOST_TEST(run("kill -KILL $$") == "was killed by signal 9 (SIGKILL)");
  BOOST_TEST(children_of_this_process() == "");
}

BOOST_AUTO_TEST_CASE(the_error_of_a_program_that_says_much_is_cut) {
  const std::string said =
      run("i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789 >&2; "
          "i=$((i + 1)); done; exit 1");
  BOOST_TEST(said.starts_with("exited with status 1: 0123456789"));
  BOOST_TEST(said.size() < 70'000u);
}

BOOST_AUTO_TEST_CASE(a_program_that_cannot_be_executed_is_named) {
  const Words words{scratch / "absent"};
  const std::string said = must_fail(run_program(words));
  BOOST_TEST(said.contains("exited with status 127"));
  BOOST_TEST(said.contains("/absent: no such file or directory"));
}

BOOST_AUTO_TEST_CASE(a_program_does_not_inherit_descriptors_or_blocked_signals) {
  const UniqueFd open = scratch.open();
  const std::string inherited = scratch / "inherited";
  const Words words{scratch.script(
      "program", "ls /proc/$$/fd >" + inherited + "; grep SigBlk /proc/$$/status >>" + inherited)};
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const auto ran = run_program(words);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  must(ran);
  const std::string text = slurp(inherited);
  BOOST_TEST(!text.contains("\n" + std::to_string(open.get()) + "\n"));
  BOOST_TEST(text.contains("SigBlk:\t0000000000000000"));
}

BOOST_AUTO_TEST_CASE(a_program_is_found_in_path_and_where_programs_for_root_are) {
  scratch.script("ocirun-test-program", "true");
  const char* path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  ::setenv("PATH", ("relative:" + scratch.path()).c_str(), 1);
  const std::string found = find_program("ocirun-test-program");
  const std::string absent = find_program("ocirun-absent-program");
  ::setenv("PATH", before.c_str(), 1);
  BOOST_TEST(found == scratch / "ocirun-test-program");
  BOOST_TEST(absent == "");
  BOOST_TEST(find_program("ocirun-test-program") == "");
}

BOOST_AUTO_TEST_SUITE_END()
