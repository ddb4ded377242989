#include "linux/process/exec.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <set>

#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "tests/child_test.hpp"
#include "tests/linux/mounts/scene.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }
bool closes_on_exec(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

/// /dev/null at this very number, not close-on-exec.
void occupy(int number) {
  const int fd = ::open("/dev/null", O_RDONLY);
  if (fd != number) {
    BOOST_REQUIRE(::dup2(fd, number) == number);
    ::close(fd);
  }
}

// A test's child reports through descriptors that these functions would close, so it reports only
// by its exit status.
template <typename Callable>
int status_of(Callable&& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exec)

BOOST_AUTO_TEST_CASE(arguments_and_environment_are_null_terminated_vectors) {
  const ExecArguments some({"sh", "", "-c"}, {"A=1"});
  BOOST_TEST(std::string(some.argv()[0]) == "sh");
  BOOST_TEST(std::string(some.argv()[1]).empty());
  BOOST_TEST(std::string(some.argv()[2]) == "-c");
  BOOST_TEST((some.argv()[3] == nullptr));
  BOOST_TEST(std::string(some.envp()[0]) == "A=1");
  BOOST_TEST((some.envp()[1] == nullptr));
  const ExecArguments none({}, {});
  BOOST_TEST((none.argv()[0] == nullptr));
  BOOST_TEST((none.envp()[0] == nullptr));
}

BOOST_AUTO_TEST_CASE(they_outlive_the_vectors_that_they_were_made_from) {
  std::vector<std::string> words{"short", std::string(1000, 'l')};
  const ExecArguments arguments(words, words);
  for (std::string& word : words) word.assign(word.size(), 'X');
  BOOST_TEST(std::string(arguments.argv()[0]) == "short");
  BOOST_TEST(std::string(arguments.envp()[1]) == std::string(1000, 'l'));
}

BOOST_AUTO_TEST_CASE(a_program_gets_these_arguments_and_this_environment_alone) {
  int ends[2];
  BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], 1);
    const ExecArguments arguments(
        {"sh", "-c", "echo \"$0|$1|$2\"; tr '\\0' '|' </proc/self/environ", "zero", "one two", ""},
        {"B=2", "A=1"});
    ::execve("/bin/sh", arguments.argv(), arguments.envp());
    ::_exit(127);
  }
  ::close(ends[1]);
  char text[256] = {};
  std::string output;
  for (ssize_t count = 0; (count = ::read(ends[0], text, sizeof text)) > 0;)
    output.append(text, static_cast<std::size_t>(count));
  ::close(ends[0]);
  ::waitpid(pid, nullptr, 0);
  BOOST_TEST(output.starts_with("zero|one two|\n"));
  BOOST_TEST(output.find("B=2|A=1|") != std::string::npos);
  BOOST_TEST(output.find("HOME=") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(every_signal_has_its_default_again_and_none_is_blocked) {
  enum class By { kNumbers, kNoText, kOtherText, kStatus };
  for (const By by : {By::kNumbers, By::kNoText, By::kOtherText, By::kStatus})
    BOOST_TEST(run_in_child(0, [&] {
                 sigset_t all;
                 ::sigfillset(&all);
                 ::sigprocmask(SIG_SETMASK, &all, nullptr);
                 for (int number = 1; number <= SIGRTMAX; ++number)
                   ::signal(number, number % 2 == 0 ? SIG_IGN : +[](int) {});
                 if (by == By::kNumbers) reset_signals();
                 if (by == By::kNoText) reset_signals("");
                 if (by == By::kOtherText) reset_signals("SigIgn:\t0000000000000000\n");
                 if (by == By::kStatus) reset_signals(host_own_status());
                 for (int number = 1; number <= SIGRTMAX; ++number) {
                   struct sigaction now{};
                   if (::sigaction(number, nullptr, &now) != 0) continue;  // glibc's own two
                   BOOST_CHECK_MESSAGE(now.sa_handler == SIG_DFL, "signal " << number);
                 }
                 sigset_t mask;
                 ::sigprocmask(SIG_SETMASK, nullptr, &mask);
                 for (int number = 1; number <= SIGRTMAX; ++number)
                   BOOST_CHECK_MESSAGE(::sigismember(&mask, number) != 1, "signal " << number);
               }) == 0);
}

BOOST_AUTO_TEST_CASE(the_host_tells_which_signals_are_ignored_and_caught) {
  const std::string status = host_own_status();
  BOOST_TEST(status.contains("\nSigIgn:\t"));
  BOOST_TEST(status.contains("\nSigCgt:\t"));
}

// conmon may run us with SIGHUP ignored, which execve would hand on.
BOOST_AUTO_TEST_CASE(the_next_program_sees_nothing_ignored_and_nothing_blocked) {
  const Scratch scratch;
  const std::string script =
      "grep -E '^Sig(Ign|Blk)' /proc/self/status | grep -vq '0000000000000000' && exit 1; exit 0";
  BOOST_TEST(status_of([&] {
               ::signal(SIGHUP, SIG_IGN);
               ::signal(SIGPIPE, SIG_IGN);
               ::signal(SIGRTMAX, SIG_IGN);
               sigset_t some;
               ::sigemptyset(&some);
               ::sigaddset(&some, SIGTERM);
               ::sigprocmask(SIG_BLOCK, &some, nullptr);
               reset_signals();
               ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
               return 127;
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_signal_that_waits_while_it_was_blocked_is_not_lost_on_the_way) {
  BOOST_TEST(status_of([] {
               sigset_t some;
               ::sigemptyset(&some);
               ::sigaddset(&some, SIGTERM);
               ::sigprocmask(SIG_BLOCK, &some, nullptr);
               ::raise(SIGTERM);
               reset_signals();
               return 0;
             }) == 128 + SIGTERM);
}

BOOST_AUTO_TEST_CASE(descriptors_are_closed_from_a_number_on) {
  BOOST_TEST(status_of([] {
               for (const int number : {3, 4, 5, 100, 900}) occupy(number);
               close_descriptors_from(5);
               for (const int number : {0, 1, 2, 3, 4})
                 if (!is_open(number)) return 10 + number;
               for (const int number : {5, 100, 900})
                 if (is_open(number)) return 20;
               close_descriptors_from(5);  // with nothing there
               return 0;
             }) == 0);
}

// A descriptor may lie above a limit that was lowered afterwards; Linux before 5.9 has no
// close_range.
BOOST_AUTO_TEST_CASE(descriptors_beyond_the_limit_are_closed_too) {
  for (const bool old_kernel : {false, true})
    BOOST_TEST(status_of([old_kernel] {
                 occupy(700);
                 occupy(701);
                 const rlimit low{64, 64};
                 if (::setrlimit(RLIMIT_NOFILE, &low) != 0) return 2;
                 if (old_kernel) refuse_system_calls({SYS_close_range});
                 const Fd keep[] = {Fd{701}};
                 close_descriptors_but(keep);
                 if (is_open(700) || !is_open(701)) return 1;
                 close_descriptors_from(3);
                 return is_open(701) ? 1 : 0;
               }) == 0);
}

// Neither close_range nor a /proc: every number that the limit allows.
OCIRUN_CHILD_TEST(descriptors_are_closed_by_number_where_nothing_lists_them, CLONE_NEWNS) {
  must(sys::mount("tmpfs", "/proc", "tmpfs", 0, nullptr));
  BOOST_TEST(status_of([] {
               occupy(60);
               const rlimit low{64, 64};
               if (::setrlimit(RLIMIT_NOFILE, &low) != 0) return 2;
               refuse_system_calls({SYS_close_range, SYS_fsopen});
               if (Procfs::open(Procfs::Subset::kProcesses)) return 3;
               close_descriptors_from(3);
               return is_open(60) ? 1 : 0;
             }) == 0);
}

// Like init, whose /proc is still that of its parent's pid namespace.
OCIRUN_CHILD_TEST(descriptors_are_listed_in_a_new_pid_namespace, CLONE_NEWPID) {
  BOOST_TEST(status_of([] {
               occupy(700);
               const rlimit low{64, 64};
               if (::setrlimit(RLIMIT_NOFILE, &low) != 0) return 2;
               refuse_system_calls({SYS_close_range, SYS_fsopen, SYS_open_tree});
               close_descriptors_from(3);
               return is_open(700) ? 1 : 0;
             }) == 0);
}

BOOST_AUTO_TEST_CASE(descriptors_close_on_exec_from_a_number_on_and_stay_open_until_then) {
  BOOST_TEST(status_of([] {
               for (const int number : {3, 4, 5, 600}) occupy(number);
               close_descriptors_on_exec(4);
               if (closes_on_exec(0) || closes_on_exec(3)) return 1;
               for (const int number : {4, 5, 600})
                 if (!is_open(number) || !closes_on_exec(number)) return 2;
               return 0;
             }) == 0);
}

BOOST_AUTO_TEST_CASE(all_but_the_named_descriptors_are_closed) {
  BOOST_TEST(status_of([] {
               for (int number = 3; number < 40; ++number) occupy(number);
               occupy(800);
               const Fd keep[] = {Fd{7}, Fd{3}, Fd{-1}, Fd{20}, Fd{7}, Fd{999}, Fd{1}};
               close_descriptors_but(keep);
               const std::set<int> expected{0, 1, 2, 3, 7, 20};
               for (int number = 0; number < 1000; ++number)
                 if (is_open(number) != expected.contains(number)) return 1;
               return 0;
             }) == 0);
  BOOST_TEST(status_of([] {
               occupy(3);
               occupy(50);
               close_descriptors_but({});
               return is_open(0) && is_open(2) && !is_open(3) && !is_open(50) ? 0 : 1;
             }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
