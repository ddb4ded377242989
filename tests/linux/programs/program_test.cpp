#include "linux/programs/program.hpp"

#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>

#include "linux/files/procfs.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
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
  BOOST_TEST(said == words.front() + ": no such file or directory");
  BOOST_TEST(children_of_this_process() == "");
}

BOOST_AUTO_TEST_CASE(a_program_does_not_inherit_descriptors_or_blocked_signals) {
  const UniqueFd open = scratch.open();
  const std::string inherited = scratch / "inherited";
  const Words words{scratch.script(
      "program",
      "ls /proc/$$/fd >" + inherited + "; grep SigBlk /proc/self/status >>" + inherited)};
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

BOOST_AUTO_TEST_CASE(a_program_that_outlives_its_caller_is_recorded_before_it_runs) {
  const Words words{scratch.script("program", "echo ran >" + scratch / "ran")};
  linux::ProcessIdentity recorded;
  linux::Child child = must(start_recorded_program(
      words, {.out = Fd{-1}, .err = Fd{-1}}, [&](const linux::ProcessIdentity& process) {
        recorded = process;
        return std::filesystem::exists(scratch / "ran") ? refuse("too early") : Result<void>();
      }));
  BOOST_TEST(recorded.pid == child.pid);
  BOOST_TEST(must(linux::read_process_stat(child.pid)).start_time == recorded.start_time);
  BOOST_TEST(must(end_of(child)) == 0);
  BOOST_TEST(slurp(scratch / "ran") == "ran\n");
}

BOOST_AUTO_TEST_CASE(a_program_that_cannot_be_recorded_does_not_run) {
  const Words words{scratch.script("program", "echo ran >" + scratch / "ran")};
  const auto started = start_recorded_program(
      words, {.out = Fd{-1}, .err = Fd{-1}},
      [](const linux::ProcessIdentity&) -> Result<void> { return refuse("a full disk"); });
  BOOST_TEST(must_fail(started) == "a full disk");
  BOOST_TEST(children_of_this_process() == "");
  BOOST_TEST(!std::filesystem::exists(scratch / "ran"));
}

// The caller is killed between its record and the start.
BOOST_AUTO_TEST_CASE(a_program_whose_caller_is_killed_before_the_start_does_not_run) {
  const Words words{scratch.script("program", "echo ran >" + scratch / "ran")};
  const pid_t caller = ::fork();
  if (caller == 0) {
    ignore(start_recorded_program(words, {.out = Fd{-1}, .err = Fd{-1}},
                                  [&](const linux::ProcessIdentity& process) -> Result<void> {
                                    scratch.file("pid", std::to_string(process.pid));
                                    ::raise(SIGKILL);
                                    return {};
                                  }));
    ::_exit(1);
  }
  int status = 0;
  BOOST_REQUIRE(::waitpid(caller, &status, 0) == caller);
  BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  const std::string left = "/proc/" + slurp(scratch / "pid") + "/stat";
  BOOST_TEST(comes_true([&] {
    const std::string stat = slurp(left);
    return stat.empty() || stat.contains(") Z ");
  }));
  BOOST_TEST(!std::filesystem::exists(scratch / "ran"));
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
