#include "linux/process/pidfd.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/clone.hpp"
#include "tests/child_test.hpp"
#include "tests/descriptors.hpp"
#include "tests/linux/mounts/scene.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

/// A child that waits for signals; collected at the end.
class Victim {
 public:
  explicit Victim(const char* name = "victim") {
    child_ = must(clone_process(0, Fd{}, Parentage::kMine));
    if (child_.pid != 0) {
      // Its name is set when it is alive to others.
      comes_true([&] {
        return slurp("/proc/" + std::to_string(child_.pid) + "/comm") == std::string(name) + "\n";
      });
      return;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, name);
    for (;;) ::pause();
  }
  ~Victim() {
    if (collected_) return;
    ::kill(child_.pid, SIGKILL);
    wait();
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  ProcessIdentity identity() const {
    return {child_.pid, must(read_process_stat(child_.pid)).start_time};
  }
  int pid() const { return child_.pid; }
  Fd pidfd() const { return child_.pidfd; }
  int wait() {
    collected_ = true;
    return must(wait_for_child(child_.pid));
  }
  void become_zombie() const {
    ::kill(child_.pid, SIGKILL);
    siginfo_t information{};
    ::waitid(P_PID, static_cast<id_t>(child_.pid), &information, WEXITED | WNOWAIT);
  }

 private:
  Child child_;
  bool collected_ = false;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(pidfd)

BOOST_AUTO_TEST_CASE(a_process_is_told_by_its_number_and_its_start_time) {
  const Victim victim;
  const ProcessIdentity process = victim.identity();
  BOOST_TEST(is_alive(process));
  BOOST_TEST(!is_ending(process));
  BOOST_TEST(is_ending({process.pid, process.start_time + 1}));
  BOOST_TEST(!is_alive({process.pid, process.start_time + 1}));
  BOOST_TEST(!is_alive({process.pid, process.start_time - 1}));
  BOOST_TEST(!is_alive({process.pid, 0}));
}

BOOST_AUTO_TEST_CASE(no_process_has_the_numbers_that_mean_something_else_to_kill) {
  for (const int pid : {0, -1, -2147483647, 2147483647}) {
    BOOST_TEST(!is_alive({pid, 0}));
    BOOST_TEST(!open_pidfd({pid, 0}));
    BOOST_TEST(!send_signal({pid, 0}, 0));
  }
}

BOOST_AUTO_TEST_CASE(a_zombie_is_not_alive_and_takes_no_signal) {
  const Victim victim;
  const ProcessIdentity process = victim.identity();
  victim.become_zombie();
  BOOST_TEST(!is_alive(process));
  const auto sent = send_signal(process, SIGTERM);
  BOOST_REQUIRE(!sent);
  BOOST_TEST(sent.error().number() == ESRCH);
  BOOST_TEST(sent.error().message().ends_with("no such process"));  // what containerd matches
}

// pthread_exit(3) in main: /proc calls the process a zombie while its threads work on.
BOOST_AUTO_TEST_CASE(a_process_lives_on_in_its_threads) {
  const auto child = must(clone_process(0, Fd{}, Parentage::kMine));
  if (child.pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::thread([] { ::pause(); }).detach();
    ::syscall(SYS_exit, 0);
  }
  BOOST_REQUIRE(comes_true([&] { return must(read_process_stat(child.pid)).state == 'Z'; }));
  const ProcessStat stat = must(read_process_stat(child.pid));
  const ProcessIdentity process{child.pid, stat.start_time};
  BOOST_TEST(stat.threads == 2);
  BOOST_TEST(is_alive(process));
  BOOST_TEST(is_ending(process));  // of its first thread nothing is left
  must(send_signal(process, SIGKILL));
  siginfo_t information{};
  ::waitid(P_PID, static_cast<id_t>(child.pid), &information, WEXITED | WNOWAIT);
  BOOST_TEST(!is_alive(process));
  must(wait_for_child(child.pid));
}

BOOST_AUTO_TEST_CASE(a_collected_process_is_gone) {
  Victim victim;
  const ProcessIdentity process = victim.identity();
  must(send_signal(process, SIGKILL));
  BOOST_TEST(WTERMSIG(victim.wait()) == SIGKILL);
  BOOST_TEST(!is_alive(process));
  BOOST_TEST(send_signal(process, SIGKILL).error().number() == ESRCH);
  BOOST_TEST(open_pidfd(process).error().number() == ESRCH);
}

BOOST_AUTO_TEST_CASE(the_kernel_tells_the_status_of_a_process_that_its_parent_has_collected) {
  Victim victim;
  const ProcessEnd end = must(ProcessEnd::watch(victim.identity()));
  BOOST_TEST(!end.has_come());
  must(send_signal(victim.identity(), SIGKILL));
  const int status = victim.wait();
  BOOST_TEST(end.has_come());
  // Before Linux 6.15 the kernel tells nothing.
  BOOST_TEST(end.status().value_or(status) == status);
}

BOOST_AUTO_TEST_CASE(the_signal_that_was_asked_for_arrives) {
  for (const int signal : {SIGTERM, SIGUSR1, SIGRTMIN + 3, SIGRTMAX}) {
    Victim victim;
    must(send_signal(victim.identity(), signal));
    const int status = victim.wait();
    BOOST_TEST(WIFSIGNALED(status));
    BOOST_TEST(WTERMSIG(status) == signal);
  }
}

BOOST_AUTO_TEST_CASE(signal_zero_only_asks) {
  const Victim victim;
  must(send_signal(victim.identity(), 0));
  BOOST_TEST(is_alive(victim.identity()));
}

BOOST_AUTO_TEST_CASE(a_number_that_is_no_signal_is_the_kernels_error) {
  const Victim victim;
  BOOST_TEST(send_signal(victim.identity(), 65).error().number() == EINVAL);
  BOOST_TEST(send_signal(victim.identity(), -1).error().number() == EINVAL);
  BOOST_TEST(is_alive(victim.identity()));
}

// /proc/PID/stat has the name in parentheses, and the process chooses the name.
BOOST_AUTO_TEST_CASE(a_process_cannot_forge_its_state_by_its_name) {
  for (const char* name : {"a) Z 1 (", ") R 2 3 4", "((((", "x) X 9 9", "\n) Z"}) {
    const Victim victim(name);
    BOOST_TEST(is_alive(victim.identity()));
    BOOST_TEST(victim.identity().start_time > 0u);
  }
}

BOOST_AUTO_TEST_CASE(the_pidfd_is_close_on_exec) {
  const Victim victim;
  const UniqueFd fd = must(open_pidfd(victim.identity()));
  BOOST_TEST((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

BOOST_AUTO_TEST_CASE(a_process_with_another_start_time_leaves_no_descriptor) {
  const Victim victim;
  ProcessIdentity process = victim.identity();
  ++process.start_time;
  const Descriptors before = open_descriptors();
  BOOST_TEST(open_pidfd(process).error().number() == ESRCH);
  BOOST_TEST(open_descriptors() == before);
}

// Another process gets the same pid. Neither is_alive() nor send_signal() may take it for the first
// process.
OCIRUN_CHILD_TEST(a_reused_number_is_not_the_same_process, CLONE_NEWPID | CLONE_NEWNS) {
  must(sys::mount("proc", "/proc", "proc", 0, nullptr));
  ProcessIdentity first;
  {
    const Victim victim;
    first = victim.identity();
  }
  ::usleep(50'000);  // start times are in ticks of 10 ms
  std::ofstream("/proc/sys/kernel/ns_last_pid") << first.pid - 1 << std::flush;
  Victim second;
  BOOST_REQUIRE(second.pid() == first.pid);
  BOOST_TEST(is_alive(second.identity()));
  BOOST_TEST(!is_alive(first));
  BOOST_TEST(send_signal(first, SIGKILL).error().number() == ESRCH);
  BOOST_TEST(!open_pidfd(first));
  BOOST_TEST(is_alive(second.identity()));
}

// Threads take their ids from the same pool as processes. For a thread's id, pidfd_open(2) fails
// with errors that it never has for a process.
BOOST_AUTO_TEST_CASE(a_number_that_is_a_threads_by_now_is_not_the_process) {
  std::promise<int> number;
  std::promise<void> end;
  std::thread thread([&] {
    number.set_value(static_cast<int>(::syscall(SYS_gettid)));
    end.get_future().wait();
  });
  const ProcessIdentity gone{number.get_future().get(), 1};
  BOOST_TEST(open_pidfd(gone).error().number() == ESRCH);
  BOOST_TEST(ProcessEnd::watch(gone).error().number() == ESRCH);
  BOOST_TEST(send_signal(gone, SIGKILL).error().number() == ESRCH);
  const int listed[] = {gone.pid};
  must(signal_listed(listed, SIGKILL,
                     [&]() -> Result<std::vector<int>> { return std::vector{gone.pid}; }));
  end.set_value();
  thread.join();
}

void an_end_comes_when_the_process_has_ended() {
  Victim victim;
  const ProcessEnd end = must(ProcessEnd::watch(victim.identity()));
  BOOST_TEST(!end.has_come());
  BOOST_TEST(!end.comes_within(std::chrono::milliseconds(30)));
  ::kill(victim.pid(), SIGKILL);
  BOOST_TEST(end.comes_within(std::chrono::seconds(kHangSeconds)));
  BOOST_TEST(end.has_come());  // not collected yet
  BOOST_TEST(ProcessEnd::watch(victim.identity()).error().number() == ESRCH);
  victim.wait();
  BOOST_TEST(end.has_come());
}

BOOST_AUTO_TEST_CASE(the_end_of_a_process_is_told_by_its_pidfd) {
  an_end_comes_when_the_process_has_ended();
  const Victim victim;
  const ProcessEnd end = must(ProcessEnd::watch(victim.identity()));
  pollfd wanted = end.wanted();
  BOOST_TEST(::poll(&wanted, 1, 0) == 0);
  ::kill(victim.pid(), SIGKILL);
  BOOST_TEST(::poll(&wanted, 1, kHangSeconds * 1000) == 1);
}

OCIRUN_CHILD_TEST(the_end_of_a_process_is_looked_for_before_linux_5_3, 0) {
  refuse_system_calls({SYS_pidfd_open});
  an_end_comes_when_the_process_has_ended();
  const Victim victim;
  const ProcessEnd end = must(ProcessEnd::watch(victim.identity()));
  BOOST_TEST(end.wanted().fd == -1);
  BOOST_TEST(end.poll_limit().count() < 1000);
}

BOOST_AUTO_TEST_CASE(only_who_is_still_listed_is_signalled) {
  Victim listed;
  const Victim left;
  const int pids[] = {listed.pid(), left.pid()};
  must(signal_listed(pids, SIGTERM,
                     [&]() -> Result<std::vector<int>> { return std::vector{listed.pid()}; }));
  BOOST_TEST(WTERMSIG(listed.wait()) == SIGTERM);
  BOOST_TEST(is_alive(left.identity()));
}

namespace {

// `list` returns the pid again, but another process has it by then. The process starts in a later
// clock tick, the unit of start times.
void who_takes_over_a_listed_number_lives() {
  std::optional<Victim> first(std::in_place), second;
  const std::vector pids = {first->pid()};
  must(signal_listed(pids, SIGKILL, [&]() -> Result<std::vector<int>> {
    first.reset();
    ::usleep(20'000);
    std::ofstream("/proc/sys/kernel/ns_last_pid") << pids.front() - 1 << std::flush;
    second.emplace();
    return pids;
  }));
  BOOST_REQUIRE(second->pid() == pids.front());
  ::usleep(20'000);
  BOOST_TEST(is_alive(second->identity()));
}

void signals_arrive() {
  Victim one, listed;
  const ProcessIdentity identity = one.identity();
  must(send_signal(identity, SIGTERM));
  BOOST_TEST(WTERMSIG(one.wait()) == SIGTERM);
  BOOST_TEST(send_signal(identity, SIGTERM).error().number() == ESRCH);
  const std::vector pids = {listed.pid()};
  must(signal_listed(pids, SIGTERM, [&]() -> Result<std::vector<int>> { return pids; }));
  BOOST_TEST(WTERMSIG(listed.wait()) == SIGTERM);
}

}  // namespace

OCIRUN_CHILD_TEST(who_takes_over_a_listed_number_is_not_signalled, CLONE_NEWPID | CLONE_NEWNS) {
  must(sys::mount("proc", "/proc", "proc", 0, nullptr));
  who_takes_over_a_listed_number_lives();
}
OCIRUN_CHILD_TEST(who_takes_over_a_listed_number_is_not_signalled_without_pidfds,
                  CLONE_NEWPID | CLONE_NEWNS) {
  must(sys::mount("proc", "/proc", "proc", 0, nullptr));
  refuse_system_calls({SYS_pidfd_open}, EPERM);
  who_takes_over_a_listed_number_lives();
}

OCIRUN_CHILD_TEST(signals_arrive_where_a_filter_refuses_pidfd_open, 0) {
  refuse_system_calls({SYS_pidfd_open}, EPERM);
  signals_arrive();
}
OCIRUN_CHILD_TEST(signals_arrive_where_a_filter_refuses_pidfd_send_signal, 0) {
  refuse_system_calls({SYS_pidfd_send_signal}, EPERM);
  signals_arrive();
}
OCIRUN_CHILD_TEST(signals_arrive_where_pidfd_send_signal_is_absent, 0) {
  refuse_system_calls({SYS_pidfd_send_signal});
  signals_arrive();
}

BOOST_AUTO_TEST_CASE(a_killed_child_is_collected_and_one_that_lives_is_not_waited_for) {
  auto child = must(clone_process(0, Fd{}, Parentage::kMine));
  if (child.pid == 0)
    for (;;) ::pause();
  const int pid = child.pid;
  BOOST_TEST(!collect_child(child, std::chrono::milliseconds(10)));
  BOOST_TEST(child.pid == pid);
  kill_child(child);
  BOOST_TEST(child.pid == 0);
  BOOST_TEST(::kill(pid, 0) != 0);
}

BOOST_AUTO_TEST_CASE(a_descriptor_of_another_process_is_copied) {  // S-7
  int ends[2];
  BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const Victim victim;  // has copies of both
  const int number = ends[1];
  ::close(ends[1]);
  {
    const UniqueFd copy = must(copy_descriptor(victim.pidfd(), number));
    BOOST_TEST((::fcntl(copy.get(), F_GETFD) & FD_CLOEXEC) != 0);
    BOOST_TEST(::write(copy.get(), "x", 1) == 1);
  }
  char byte = 0;
  BOOST_TEST(::read(ends[0], &byte, 1) == 1);
  BOOST_TEST(byte == 'x');
  ::close(ends[0]);
  BOOST_TEST(copy_descriptor(victim.pidfd(), 987654).error().number() == EBADF);
}

OCIRUN_CHILD_TEST(where_pidfd_getfd_is_absent_the_error_says_who_must_allow_it, 0) {
  const Victim victim;
  refuse_system_calls({SYS_pidfd_getfd}, ENOSYS);
  const auto copy = copy_descriptor(victim.pidfd(), 0);
  BOOST_REQUIRE(!copy);
  BOOST_TEST(copy.error().number() == ENOSYS);
  check_text(copy.error().message(),
             "needs Linux 5.6, and that each seccomp filter outside of ocirun allows pidfd_getfd");
}

BOOST_AUTO_TEST_SUITE_END()
