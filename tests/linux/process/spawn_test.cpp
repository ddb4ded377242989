#include "linux/process/spawn.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "linux/base/pipe.hpp"
#include "linux/base/syscalls.hpp"
#include "tests/child_test.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

/// What `script` writes to stdout when spawn() has started it.
std::string said_by(const std::string& script) {
  const UniqueFd nothing = must(sys::open("/dev/null", O_RDWR));
  Pipe out = must(make_pipe());
  const ExecArguments arguments({"sh", "-c", script}, {"A=b c"});
  const Child child =
      must(spawn("/bin/sh", arguments, arguments.envp(), {nothing, out.writer, nothing}));
  out.writer.reset();
  std::string text = must(sys::read_all(out.reader, 65536));
  BOOST_TEST(must(wait_for_child(child.pid)) == 0);
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spawn_suite)

BOOST_AUTO_TEST_CASE(a_program_gets_its_arguments_environment_and_streams) {
  BOOST_TEST(said_by("echo \"$A\"; cat") == "b c\n");
}

BOOST_AUTO_TEST_CASE(a_program_leads_a_session_and_has_three_descriptors) {
  const UniqueFd inheritable(must(sys::open("/dev/null", O_RDWR)));
  BOOST_REQUIRE(::fcntl(inheritable.get(), F_SETFD, 0) == 0);
  const std::string session =
      said_by("set -- $(cat /proc/$$/stat); [ $6 = $$ ] && echo leads; ls /proc/$$/fd");
  BOOST_TEST(session.starts_with("leads\n0\n1\n2\n"));
  BOOST_TEST(!session.contains("\n" + std::to_string(inheritable.get()) + "\n"));
}

CHILD_TEST(a_program_has_default_signals_and_the_callers_stay, 0) {
  ::signal(SIGHUP, SIG_IGN);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  const std::string status = said_by("grep -E 'SigBlk|SigIgn' /proc/self/status");
  BOOST_TEST(status == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  BOOST_TEST((::signal(SIGHUP, SIG_DFL) == SIG_IGN));
  sigset_t now;
  ::sigprocmask(SIG_SETMASK, nullptr, &now);
  BOOST_TEST(::sigismember(&now, SIGUSR1) == 1);
  BOOST_TEST(::sigismember(&now, SIGUSR2) == 0);
}

CHILD_TEST(a_program_that_cannot_be_executed_is_an_error_and_no_child, 0) {
  const UniqueFd nothing = must(sys::open("/dev/null", O_RDWR));
  const ExecArguments arguments({"x"}, {});
  const auto missing = spawn("/no/such", arguments, arguments.envp(), {nothing, nothing, nothing});
  BOOST_TEST(must_fail(missing) == "/no/such: no such file or directory");
  const auto refused =
      spawn("/etc/passwd", arguments, arguments.envp(), {nothing, nothing, nothing});
  BOOST_TEST(refused.error().number() == EACCES);
  BOOST_TEST(::waitpid(-1, nullptr, __WALL) == -1);
  BOOST_TEST(errno == ECHILD);
}

BOOST_AUTO_TEST_CASE(a_program_is_killed_when_its_parent_dies) {
  Pipe pids = must(make_pipe());
  const Child parent = must(clone_process(0, Fd{-1}, Parentage::kMine));
  if (parent.pid == 0) {
    const auto nothing = sys::open("/dev/null", O_RDWR);
    const ExecArguments arguments({"sleep", "1000"}, {});
    const auto child =
        spawn("/bin/sleep", arguments, arguments.envp(), {*nothing, *nothing, *nothing});
    if (child) static_cast<void>(sys::write_once(pids.writer, std::to_string(child->pid)));
    ::_exit(0);
  }
  pids.writer.reset();
  const int program = std::stoi(must(sys::read_all(pids.reader, 16)));
  must(wait_for_child(parent.pid));
  BOOST_TEST(comes_true([&] { return ::kill(program, 0) != 0 && errno == ESRCH; }));
}

BOOST_AUTO_TEST_SUITE_END()
