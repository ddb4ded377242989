#include "linux/process/spawn.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "tests/child_test.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

constexpr unsigned kNamespaces = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC;

/// What `script` writes to stdout when spawn() has started it.
std::string said_by(const std::string& script, unsigned namespaces = 0) {
  const UniqueFd nothing = must(sys::open("/dev/null", O_RDWR));
  Pipe out = must(make_pipe());
  const ExecArguments arguments({"sh", "-c", script}, {"A=b c"});
  const Child child = must(spawn("/bin/sh", arguments, arguments.envp(),
                                 {nothing, out.writer, nothing}, {.namespaces = namespaces}));
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

OCIRUN_CHILD_TEST(descriptors_that_have_each_others_numbers_change_places, 0) {
  constexpr int kCount = 5;
  const Scratch scratch;
  std::vector<UniqueFd> files, before;
  for (int i = 0; i < kCount; ++i) before.emplace_back(::fcntl(i, F_DUPFD_CLOEXEC, 80));
  for (int i = 0; i < kCount; ++i) {
    const std::string name = std::to_string(i);
    scratch.file(name, i + 1 < kCount ? name : "");
    const int flags = i + 1 < kCount ? O_RDONLY : O_WRONLY | O_APPEND;
    const UniqueFd opened = must(sys::open((scratch / name).c_str(), flags));
    files.emplace_back(::fcntl(opened.get(), F_DUPFD_CLOEXEC, 50));
  }
  std::vector<Fd> given;
  for (int i = 0; i < kCount; ++i) {
    given.push_back(Fd{(i + 1) % kCount});
    ::dup2(files[static_cast<std::size_t>(i)].get(), given.back().value);
  }
  const ExecArguments arguments({"sh", "-c", "for i in 0 1 2 3; do cat <&$i >&4; done"}, {});
  const auto child = spawn("/bin/sh", arguments, arguments.envp(), given);
  for (int i = 0; i < kCount; ++i) {
    const UniqueFd& old = before[static_cast<std::size_t>(i)];
    old ? ::dup2(old.get(), i) : ::close(i);
  }
  BOOST_REQUIRE(child.has_value());
  BOOST_TEST(must(wait_for_child(child->pid)) == 0);
  BOOST_TEST(slurp(scratch / "4") == "0123");
}

OCIRUN_CHILD_TEST(a_descriptor_that_is_closed_is_an_error_and_no_child, 0) {
  const UniqueFd nothing = must(sys::open("/dev/null", O_RDWR));
  const ExecArguments arguments({"true"}, {});
  for (const int closed : {-1, 2000}) {
    const auto refused =
        spawn("/bin/true", arguments, arguments.envp(), {nothing, Fd{closed}, nothing});
    BOOST_TEST(must_fail(refused) == "/bin/true: bad file descriptor");
  }
  BOOST_TEST(::waitpid(-1, nullptr, __WALL) == -1);
}

OCIRUN_CHILD_TEST(a_program_gets_new_namespaces, 0) {
  const std::string script = "echo $$; readlink /proc/self/ns/net /proc/self/ns/ipc";
  const std::string same = said_by(script), other = said_by(script, kNamespaces);
  BOOST_TEST(!same.starts_with("1\n"));
  BOOST_TEST(other.starts_with("1\n"));
  BOOST_TEST(same.substr(same.find('\n')) == said_by("echo; " + script.substr(9)));
  BOOST_TEST(same.substr(same.find('\n')) != other.substr(other.find('\n')));
}

OCIRUN_CHILD_TEST(a_program_has_default_signals_and_the_callers_stay, 0) {
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

OCIRUN_CHILD_TEST(a_program_that_cannot_be_executed_is_an_error_and_no_child, 0) {
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
  std::vector<unsigned> all{0};
  if (is_root()) all.push_back(kNamespaces);
  for (const unsigned namespaces : all) {
    Pipe pids = must(make_pipe());
    const Child parent = must(clone_process(0, Fd{-1}, Parentage::kMine));
    if (parent.pid == 0) {
      const auto nothing = sys::open("/dev/null", O_RDWR);
      const ExecArguments arguments({"sleep", "1000"}, {});
      const auto child = spawn("/bin/sleep", arguments, arguments.envp(),
                               {*nothing, *nothing, *nothing}, {.namespaces = namespaces});
      if (child) ignore(sys::write_once(pids.writer, std::to_string(child->pid)));
      ::_exit(0);
    }
    pids.writer.reset();
    const int program = std::stoi(must(sys::read_all(pids.reader, 16)));
    must(wait_for_child(parent.pid));
    BOOST_TEST(comes_true([&] { return ::kill(program, 0) != 0 && errno == ESRCH; }));
  }
}

BOOST_AUTO_TEST_SUITE_END()
