#include "pods/run/command.hpp"

#include <sys/wait.h>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

Command shell(const std::string& script) {
  return must(Command::run(std::vector<std::string>{"/bin/sh", "-c", script}, "the shell"));
}

/// The end of a command, as a supervisor sees it.
int end_of(const Command& command) { return must(linux::wait_for_child(command.pid())); }

std::string error_of(Command& command) {
  const int status = end_of(command);
  const auto outcome = command.outcome(status);
  return outcome ? "" : outcome.error().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(command)

BOOST_AUTO_TEST_CASE(a_program_that_fails_is_told_with_its_errors) {
  Command good = shell("echo noise >&2");
  BOOST_TEST(error_of(good) == "");
  Command bad = shell("echo first >&2; echo second >&2; exit 3");
  BOOST_TEST(error_of(bad) == "first\nsecond (the shell exited with status 3)");
}

BOOST_AUTO_TEST_CASE(a_failure_begins_with_what_happened) {
  const std::string end = "/usr/bin/ocirun create exited with status 1";
  BOOST_TEST(failure_text("", end) == end);
  BOOST_TEST(failure_text("ocirun: create p.c: exec: no such file\n", end) ==
             "exec: no such file (" + end + ")");
  BOOST_TEST(failure_text("ocirun: the kernel is old", end) == "the kernel is old (" + end + ")");
  BOOST_TEST(failure_text("runc create failed", end) == "runc create failed (" + end + ")");
}

BOOST_AUTO_TEST_CASE(what_a_program_writes_is_kept_and_its_errors_are_told_apart) {
  Command good = shell("echo said; echo noise >&2");
  BOOST_TEST(must(good.await()) == "said\n");
  Command much = shell("head -c 500000 /dev/zero; echo end");
  BOOST_TEST(must(much.await()).size() == 500004u);
  Command bad = shell("echo said; echo why >&2; exit 3");
  BOOST_TEST(must_fail(bad.await()) == "why (the shell exited with status 3)");
  Command slow = shell("exec sleep 1000");
  slow.hurry(std::chrono::milliseconds(1));
  BOOST_TEST(must_fail(slow.await()) == "the shell " + Command::too_long());
}

BOOST_AUTO_TEST_CASE(only_a_program_that_ends_by_itself_has_refused) {
  const Command refuses = shell("exit 1");
  BOOST_TEST(refuses.has_refused(end_of(refuses)));
  const Command agrees = shell("exit 0");
  BOOST_TEST(!agrees.has_refused(end_of(agrees)));
  const Command dies = shell("kill -KILL $$");
  BOOST_TEST(!dies.has_refused(end_of(dies)));
  Command killed = shell("exit 1");
  const int status = end_of(killed);
  killed.kill("was killed");
  BOOST_TEST(!killed.has_refused(status));
}

BOOST_AUTO_TEST_CASE(kill_ends_what_the_program_has_started_in_its_session) {
  linux::Pipe pipe = must(linux::make_pipe());
  Command slow =
      must(Command::run(std::vector<std::string>{"/bin/sh", "-c", "sleep 1000 & sleep 1000"},
                        linux::Streams{.out = pipe.writer, .err = Fd{-1}}, "the shell"));
  pipe.writer.reset();
  slow.kill("did not end");
  BOOST_TEST(error_of(slow) == "the shell did not end");
  BOOST_TEST(must(linux::sys::read_all(pipe.reader, 1)) == "");  // the end of both writers
}

BOOST_AUTO_TEST_CASE(errors_without_end_do_not_keep_the_reader) {
  Command endless = shell("exec yes >&2");
  for (int i = 0; i < 100; ++i) endless.read();
  endless.kill("did not end");
  BOOST_TEST(error_of(endless).size() < 70000u);
}

BOOST_AUTO_TEST_CASE(a_function_reports_its_error_and_may_take_any_time) {
  Command good = must(Command::call([]() -> Result<void> { return {}; }, "the copy"));
  BOOST_TEST((good.deadline() == Command::Clock::time_point::max()));
  BOOST_TEST(error_of(good) == "");
  Command bad =
      must(Command::call([]() -> Result<void> { return refuse("no space"); }, "the copy"));
  BOOST_TEST(error_of(bad) == "no space");
  Command program = shell("exit 0");
  BOOST_TEST((program.deadline() < Command::Clock::time_point::max()));
  ignore(error_of(program));
}

BOOST_AUTO_TEST_SUITE_END()
