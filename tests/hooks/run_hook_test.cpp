#include "hooks/run_hook.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "tests/child_test.hpp"
#include "tests/descriptors.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::hooks;
using namespace ocirun::test;

namespace {

Hook hook_at(std::string path) {
  Hook hook;
  hook.path = HostPath(std::move(path));
  return hook;
}

Context context(std::string state = "{}") {
  return {.state = std::move(state), .directory = HostPath("/"), .default_env = {}, .warn = {}};
}

Result<void> run_hook(const Hook& hook, const Context& around) {
  return hooks::run_hook(hook, "a hook", around);
}

bool is_running(int pid) { return pid > 0 && ::kill(pid, 0) == 0; }

/// Waits for the number that a script writes to a file, and returns it.
int number_in(const std::string& path) {
  comes_true([&] { return slurp(path).ends_with('\n'); });
  return std::atoi(slurp(path).c_str());
}

/// Kills a process that a script left running on purpose. The process is no child of
/// the test, so end() waits until the pid is gone.
void end(int pid) {
  if (pid <= 1) return;
  ::kill(pid, SIGKILL);
  BOOST_TEST(comes_true([&] { return !is_running(pid); }));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_hook_of)

BOOST_AUTO_TEST_CASE(a_hook_that_exits_with_zero_has_succeeded) {
  const Scratch scratch;
  const Descriptors before = open_descriptors();
  BOOST_TEST(run_hook(hook_at(scratch.script("h", "exit 0")), context()).has_value());
  BOOST_TEST(open_descriptors() == before);
  BOOST_TEST(children_of_this_process().empty());
}

BOOST_AUTO_TEST_CASE(its_output_is_no_failure_and_is_not_shown) {
  const Scratch scratch;
  BOOST_TEST(
      run_hook(hook_at(scratch.script("h", "echo chatter; echo more >&2")), context()).has_value());
}

BOOST_AUTO_TEST_CASE(the_state_is_on_its_stdin_and_then_the_end_of_file) {  // H-7
  const Scratch scratch;
  const Hook hook = hook_at(scratch.script("h", "cat >" + scratch.path() + "/state"));
  const std::string state = R"({"ociVersion":"1.3.0","id":"web1","pid":4711})";
  must(run_hook(hook, context(state)));
  BOOST_TEST(slurp(scratch / "state") == state);
}

BOOST_AUTO_TEST_CASE(a_state_larger_than_any_pipe_arrives_whole) {  // H-7
  const Scratch scratch;
  const Hook hook = hook_at(scratch.script("h", "cat >" + scratch.path() + "/state"));
  const std::string state(3'000'000, 's');
  must(run_hook(hook, context(state)));
  BOOST_TEST((slurp(scratch / "state") == state));
}

BOOST_AUTO_TEST_CASE(a_hook_that_never_reads_its_stdin_is_no_error_and_blocks_nobody) {  // H-7
  const Scratch scratch;
  const std::string state(1'000'000, 's');
  BOOST_TEST(seconds_of([&] {
               must(run_hook(hook_at(scratch.script("h", "exit 0")), context(state)));
               must(run_hook(hook_at(scratch.script("i", "exec <&-; exit 0")), context(state)));
               must(
                   run_hook(hook_at(scratch.script("j", "head -c 10 >/dev/null")), context(state)));
             }) < kHang);
}

BOOST_AUTO_TEST_CASE(its_arguments_are_argv_with_argv_0_and_its_path_without_them) {  // H-3
  const Scratch scratch;
  const std::string record = scratch / "argv";
  ::setenv("UNRELATED", "1", 1);
  const std::string script = scratch.script("h", "tr '\\0' '|' </proc/$$/cmdline >" + record);
  Hook hook = hook_at(script);
  must(run_hook(hook, context()));
  BOOST_TEST(slurp(record) == "/bin/sh|" + script + "|");

  hook = hook_at("/bin/sh");
  hook.args = {"my-own-name", "-c", "echo \"$0|$1|$2\" >" + record, "zero", "a b", ""};
  must(run_hook(hook, context()));
  BOOST_TEST(slurp(record) == "zero|a b|\n");
  hook.args = {"my-own-name", "-c", "tr '\\0' '|' </proc/$$/cmdline >" + record + "; true"};
  must(run_hook(hook, context()));
  BOOST_TEST(slurp(record).starts_with("my-own-name|-c|"));
}

BOOST_AUTO_TEST_CASE(its_environment_is_what_it_says_or_the_default_of_its_kind) {  // H-4
  const Scratch scratch;
  const std::string record = scratch / "env";
  Hook hook = hook_at("/bin/sh");
  hook.args = {"sh", "-c", "tr '\\0' '|' </proc/$$/environ >" + record + "; true"};
  ::setenv("OF_THE_CALLER", "secret", 1);
  Context with_default = context();
  with_default.default_env = std::vector<std::string>{"D=1", "PATH=/bin:/usr/bin"};

  hook.env = std::vector<std::string>{"PATH=/usr/bin:/bin", "A=b c", "EMPTY="};
  must(run_hook(hook, with_default));
  BOOST_TEST(slurp(record) == "PATH=/usr/bin:/bin|A=b c|EMPTY=|");

  hook.env.reset();
  must(run_hook(hook, with_default));
  BOOST_TEST(slurp(record) == "D=1|PATH=/bin:/usr/bin|");

  // An empty list is an empty environment, not the default.
  hook.env = std::vector<std::string>{};
  must(run_hook(hook, with_default));
  BOOST_TEST(slurp(record).empty());
  ::unsetenv("OF_THE_CALLER");
}

BOOST_AUTO_TEST_CASE(without_env_and_without_a_default_it_inherits_our_environment) {  // H-4, SD-17
  const Scratch scratch;
  const std::string record = scratch / "env";
  Hook hook = hook_at("/bin/sh");
  hook.args = {"sh", "-c", "tr '\\0' '|' </proc/$$/environ >" + record + "; true"};
  ::setenv("OF_THE_CALLER", "inherited", 1);
  must(run_hook(hook, context()));
  BOOST_TEST(slurp(record).find("OF_THE_CALLER=inherited|") != std::string::npos);
  hook.env = std::vector<std::string>{"ONLY=1", "PATH=/usr/bin:/bin"};
  must(run_hook(hook, context()));
  BOOST_TEST(slurp(record) == "ONLY=1|PATH=/usr/bin:/bin|");
  ::unsetenv("OF_THE_CALLER");
}

BOOST_AUTO_TEST_CASE(its_working_directory_is_the_given_one_or_the_root_when_that_is_gone) {
  const Scratch scratch;
  const Hook hook = hook_at(scratch.script("h", "pwd >" + scratch.path() + "/pwd"));
  Context there = context();
  there.directory = HostPath(scratch.path());
  must(run_hook(hook, there));
  BOOST_TEST(slurp(scratch / "pwd") == scratch.path() + "\n");
  there.directory = HostPath(scratch / "deleted");
  must(run_hook(hook, there));
  BOOST_TEST(slurp(scratch / "pwd") == "/\n");
}

BOOST_AUTO_TEST_CASE(
    its_working_directory_may_be_given_as_a_descriptor_whose_path_leads_elsewhere) {
  const Scratch scratch;
  const Hook hook = hook_at(scratch.script("h", "touch here"));
  std::filesystem::create_directory(scratch / "there");
  const UniqueFd directory(::open((scratch / "there").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::filesystem::rename(scratch / "there", scratch / "moved");
  Context there = context();
  // One of the two is normally descriptor 3, which the hook's process needs for the failure pipe.
  const UniqueFd third(::fcntl(directory.get(), F_DUPFD_CLOEXEC, 3));
  for (const Fd fd : {Fd(directory), Fd(third)}) {
    there.directory_itself = fd;
    must(run_hook(hook, there));
    BOOST_TEST(std::filesystem::remove(scratch / "moved/here"));
  }
}

BOOST_AUTO_TEST_CASE(what_confines_it_happens_in_its_process_before_its_program) {
  const Scratch scratch;
  const Hook hook = hook_at(scratch.script("h", "umask >" + scratch.path() + "/umask"));
  Context around = context();
  around.confine = []() -> Result<void> {
    ::umask(0123);
    return {};
  };
  const mode_t own = ::umask(022);
  must(run_hook(hook, around));
  BOOST_TEST(slurp(scratch / "umask") == "0123\n");
  BOOST_TEST(::umask(own) == 022U);
  around.confine = [] { return Result<void>(fail(EPERM, "not allowed")); };
  BOOST_TEST(must_fail(run_hook(hook, around)) ==
             "load the seccomp filter for the hook: operation not permitted");
}

BOOST_AUTO_TEST_CASE(it_has_no_descriptor_but_the_three) {
  const Scratch scratch;
  const int leak = ::open("/dev/null", O_RDONLY);  // not close-on-exec
  const int high = ::fcntl(leak, F_DUPFD, 500);
  const Hook hook = hook_at(scratch.script(
      "h", "for n in 0 1 2 3 4 5 6 7 8 9 " + std::to_string(leak) + " " + std::to_string(high) +
               "; do [ -e /proc/$$/fd/$n ] && echo $n >>" + scratch.path() + "/fds; done; true"));
  must(run_hook(hook, context()));
  ::close(leak);
  ::close(high);
  BOOST_TEST(slurp(scratch / "fds") == "0\n1\n2\n");
}

BOOST_AUTO_TEST_CASE(it_leads_a_session_of_its_own) {
  const Scratch scratch;
  const Hook hook = hook_at(
      scratch.script("h", "echo $$ $(cut -d' ' -f5,6 /proc/$$/stat) >" + scratch.path() + "/ids"));
  must(run_hook(hook, context()));
  std::istringstream stream(slurp(scratch / "ids"));
  int pid = 0;
  int group = 1;
  int session = 2;
  stream >> pid >> group >> session;
  BOOST_TEST(pid == group);
  BOOST_TEST(pid == session);
}

BOOST_AUTO_TEST_CASE(signals_that_we_ignore_or_block_are_back_to_normal_for_it) {
  const Scratch scratch;
  const Hook hook = hook_at(scratch.script(
      "h", "exec grep -E '^Sig(Blk|Ign)' /proc/self/status >" + scratch.path() + "/signals"));
  BOOST_TEST(run_in_child(0, [&] {
               ::signal(SIGHUP, SIG_IGN);
               ::signal(SIGPIPE, SIG_IGN);
               sigset_t all;
               ::sigfillset(&all);
               ::sigprocmask(SIG_SETMASK, &all, nullptr);
               must(run_hook(hook, context()));
             }) == 0);
  BOOST_TEST(slurp(scratch / "signals") ==
             "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

BOOST_AUTO_TEST_CASE(a_failing_hook_is_told_with_its_status_and_what_it_said) {  // H-11, W-5
  const Scratch scratch;
  const auto outcome = run_hook(
      hook_at(scratch.script("h", "echo on stdout; echo on stderr >&2; exit 3")), context());
  BOOST_REQUIRE(!outcome);
  BOOST_TEST(outcome.error().message() == "exit status 3: on stdout\non stderr");
  BOOST_TEST(must_fail(run_hook(hook_at(scratch.script("i", "exit 255")), context())) ==
             "exit status 255");
  BOOST_TEST(must_fail(run_hook(hook_at(scratch.script("j", "echo; echo ' '; exit 1")),
                                context())) == "exit status 1");
}

BOOST_AUTO_TEST_CASE(a_hook_that_a_signal_killed_is_told_by_its_number) {
  const Scratch scratch;
  BOOST_TEST(must_fail(run_hook(hook_at(scratch.script("h", "echo last words; kill -9 $$")),
                                context())) == "killed by signal 9: last words");
  BOOST_TEST(must_fail(run_hook(hook_at(scratch.script("i", "kill -TERM $$")), context())) ==
             "killed by signal 15");
}

// An exit status of 127 is the hook's own. Only a hook that could not be executed has an error of
// the kernel.
BOOST_AUTO_TEST_CASE(a_hook_that_cannot_be_executed_is_told_with_the_kernels_reason) {
  const Scratch scratch;
  const Descriptors before = open_descriptors();
  const auto reason_of = [](const std::string& path) {
    const auto outcome = run_hook(hook_at(path), context());
    BOOST_REQUIRE(!outcome);
    BOOST_TEST(outcome.error().message().find(path) != std::string::npos);
    return outcome.error().number();
  };
  BOOST_TEST(reason_of(scratch / "missing") == ENOENT);
  BOOST_TEST(reason_of(scratch.file("plain", "#!/bin/sh\n", 0644)) == EACCES);
  BOOST_TEST(reason_of(scratch.path()) == EACCES);
  BOOST_TEST(reason_of(scratch.file("text", "no interpreter", 0755)) == ENOEXEC);
  BOOST_TEST(reason_of(scratch.file("bad", "#!/no/such/interpreter\n", 0755)) == ENOENT);
  BOOST_TEST(must_fail(run_hook(hook_at(scratch / "missing"), context()))
                 .ends_with("no such file or directory"));
  BOOST_TEST(must_fail(run_hook(hook_at(scratch.script("own", "exit 127")), context())) ==
             "exit status 127");
  BOOST_TEST(open_descriptors() == before);
  BOOST_TEST(children_of_this_process().empty());
}

BOOST_AUTO_TEST_CASE(a_flood_of_output_is_read_to_its_end_and_the_last_64_KiB_are_kept) {
  const Scratch scratch;
  const std::string text = must_fail(
      run_hook(hook_at(scratch.script(
                   "h", "head -c 5000000 /dev/zero | tr '\\0' x; echo; echo the end; exit 1")),
               context()));
  BOOST_TEST(text.ends_with("x\nthe end"));
  BOOST_TEST(text.starts_with("exit status 1: xxx"));
  BOOST_TEST(text.size() > 60u * 1024);
  BOOST_TEST(text.size() <= 64u * 1024 + 32);
}

BOOST_AUTO_TEST_CASE(
    a_hook_that_takes_longer_than_its_timeout_is_killed_with_its_children) {  // H-5
  const Scratch scratch;
  Hook hook = hook_at(scratch.script("h", "echo working; sleep 987 & echo $! >" + scratch.path() +
                                              "/child; echo $$ >" + scratch.path() +
                                              "/self; wait; exit 0"));
  hook.timeout = std::chrono::seconds(3);  // enough for the script to write its files
  std::string text;
  const double seconds = seconds_of([&] { text = must_fail(run_hook(hook, context())); });
  BOOST_TEST(text == "timed out after 3 s: working");
  BOOST_TEST(seconds >= 3.0);
  BOOST_TEST(seconds < kHang);
  BOOST_TEST(!is_running(number_in(scratch / "self")));
  const int child = number_in(scratch / "child");
  BOOST_TEST(comes_true([&] { return !is_running(child); }));
}

BOOST_AUTO_TEST_CASE(a_hook_that_ignores_signals_is_killed_all_the_same) {  // H-5
  const Scratch scratch;
  Hook hook = hook_at(scratch.script("h", "trap '' TERM INT HUP; while :; do sleep 0.1; done"));
  hook.timeout = std::chrono::seconds(1);
  BOOST_TEST(seconds_of([&] { must_fail(run_hook(hook, context())); }) < kHang);
}

BOOST_AUTO_TEST_CASE(a_hook_that_never_stops_talking_is_timed_out_too) {  // H-5
  const Scratch scratch;
  Hook hook = hook_at(scratch.script("h", "exec yes flood"));
  hook.timeout = std::chrono::seconds(1);
  std::string text;
  BOOST_TEST(seconds_of([&] { text = must_fail(run_hook(hook, context())); }) < kHang);
  BOOST_TEST(text.starts_with("timed out after 1 s: "));
}

BOOST_AUTO_TEST_CASE(a_timeout_that_is_not_reached_changes_nothing) {  // H-5
  const Scratch scratch;
  Hook hook = hook_at(scratch.script("h", "sleep 0.2; exit 0"));
  hook.timeout = std::chrono::seconds(60);
  BOOST_TEST(seconds_of([&] { must(run_hook(hook, context())); }) < kHang);
}

// config.json allows up to 2^31-1 seconds, more milliseconds than poll(2) can take.
BOOST_AUTO_TEST_CASE(a_timeout_of_weeks_and_years_does_not_end_early) {  // H-5
  const Scratch scratch;
  for (const std::int64_t seconds :
       {std::int64_t{2147484}, std::int64_t{4294968}, std::int64_t{2147483647}}) {
    Hook hook = hook_at(scratch.script("h", "sleep 1.5; exit 0"));
    hook.timeout = std::chrono::seconds(seconds);
    const auto outcome = run_hook(hook, context());
    BOOST_CHECK_MESSAGE(outcome, seconds << " s: " << (outcome ? "" : outcome.error().message()));
  }
}

// A hook may start a daemon that keeps its stdout open: run_hook() waits for the hook, not for the
// end of the pipe.
BOOST_AUTO_TEST_CASE(a_daemon_that_holds_the_output_does_not_hold_us) {
  const Scratch scratch;
  const Hook hook = hook_at(scratch.script(
      "h", "setsid sleep 986 & echo $! >" + scratch.path() + "/daemon; echo started; exit 0"));
  const Descriptors before = open_descriptors();
  BOOST_TEST(seconds_of([&] { must(run_hook(hook, context())); }) < kHang);
  BOOST_TEST(open_descriptors() == before);
  const int daemon = number_in(scratch / "daemon");
  BOOST_TEST(is_running(daemon));  // run_hook() leaves daemons alone
  end(daemon);
}

BOOST_AUTO_TEST_CASE(the_output_before_a_daemon_is_in_the_error) {
  const Scratch scratch;
  const Hook hook = hook_at(scratch.script(
      "h", "setsid sleep 985 & echo $! >" + scratch.path() + "/daemon; echo cannot start; exit 4"));
  BOOST_TEST(must_fail(run_hook(hook, context())) == "exit status 4: cannot start");
  end(number_in(scratch / "daemon"));
}

BOOST_AUTO_TEST_CASE(a_daemon_that_never_stops_talking_does_not_hold_us_either) {
  const Scratch scratch;
  const Hook hook = hook_at(scratch.script(
      "h", "setsid yes flood & echo $! >" + scratch.path() + "/daemon; sleep 0.1; exit 0"));
  BOOST_TEST(seconds_of([&] { must(run_hook(hook, context())); }) < kHang);
  end(number_in(scratch / "daemon"));
}

// The hook closes its descriptors 0, 1 and 2 at once and continues.
BOOST_AUTO_TEST_CASE(a_hook_without_output_is_waited_for) {
  const Scratch scratch;
  const Hook hook = hook_at(
      scratch.script("h", "exec <&- >&- 2>&-; sleep 0.5; : >" + scratch.path() + "/done; exit 6"));
  BOOST_TEST(must_fail(run_hook(hook, context())) == "exit status 6");
  BOOST_TEST((scratch.names() == std::vector<std::string>{"done", "h"}));
}

BOOST_AUTO_TEST_CASE(our_own_stdin_and_stdout_are_not_the_hooks) {
  const Scratch scratch;
  const Hook hook = hook_at(
      scratch.script("h", "readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2 >&2; exit 1"));
  const std::string text = must_fail(run_hook(hook, context()));
  BOOST_TEST(text.find("memfd:state") != std::string::npos);
  BOOST_TEST(text.find("pipe:[") != std::string::npos);
  BOOST_TEST(text.find("/dev/") == std::string::npos);
}

// The hook's process moves its descriptors to the numbers 0 to 3. run_hook() may have opened one of
// them as number 3.
BOOST_AUTO_TEST_CASE(it_works_whichever_descriptors_above_the_three_are_free) {
  const Scratch scratch;
  const Hook hook =
      hook_at(scratch.script("h", "cat >" + scratch.path() + "/out; echo said; exit 5"));
  for (int occupied = 0; occupied < 6; ++occupied) {
    const std::string record = scratch / "error";
    const pid_t pid = ::fork();
    if (pid == 0) {
      for (int number = 3; number < 20; ++number) ::close(number);
      for (int number = 3; number < 3 + occupied; ++number) ::dup2(0, number);
      const auto outcome = run_hook(hook, context("the state"));
      std::ofstream(record) << (outcome ? "success" : outcome.error().message());
      ::_exit(0);
    }
    ::waitpid(pid, nullptr, 0);
    BOOST_TEST_CONTEXT(occupied << " descriptors were in use") {
      BOOST_TEST(slurp(record) == "exit status 5: said");
      BOOST_TEST(slurp(scratch / "out") == "the state");
    }
  }
}

BOOST_AUTO_TEST_CASE(an_interrupt_kills_the_hook_with_its_children_and_is_the_error) {
  const Scratch scratch;
  // The hook itself interrupts, once its child is running.
  const std::string fifo = scratch / "interrupt";
  BOOST_REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const UniqueFd interrupt(::open(fifo.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  const Hook hook = hook_at(scratch.script(
      "h", "trap '' TERM INT HUP; sleep 987 & echo $! >" + scratch.path() + "/child; echo $$ >" +
               scratch.path() + "/self; printf ab >" + fifo + "; wait; exit 0"));
  Context around = context();
  around.interrupt = interrupt;
  std::string heard;
  around.check_interrupt = [&]() -> Result<void> {
    char byte = 0;
    if (::read(interrupt.get(), &byte, 1) == 1) heard += byte;
    return byte == 'b' ? refuse("told to stop") : Result<void>{};
  };
  std::string text;
  BOOST_TEST(seconds_of([&] { text = must_fail(run_hook(hook, around)); }) < kHang);
  BOOST_TEST(text == "told to stop");
  BOOST_TEST(heard == "ab");  // an 'a' is no interrupt, a 'b' is
  BOOST_TEST(!is_running(number_in(scratch / "self")));
  const int child = number_in(scratch / "child");
  BOOST_TEST(comes_true([&] { return !is_running(child); }));
  BOOST_TEST(children_of_this_process().empty());
}

BOOST_AUTO_TEST_CASE(a_hook_that_nobody_interrupts_is_waited_for) {
  const Scratch scratch;
  const UniqueFd silent(::eventfd(0, EFD_CLOEXEC));
  Context around = context();
  around.interrupt = silent;
  around.check_interrupt = [] { return Result<void>(refuse("nobody asked for this")); };
  must(run_hook(hook_at(scratch.script("h", "sleep 0.2; exit 0")), around));
}

BOOST_AUTO_TEST_SUITE_END()
