#include "linux/process/clone.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "tests/child_test.hpp"
#include "tests/linux/mounts/scene.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

std::string link_of(const std::string& path) {
  char target[256] = {};
  return ::readlink(path.c_str(), target, sizeof target - 1) < 0 ? "" : target;
}

void check_birth_in_cgroup() {
  const Scratch scratch;
  const auto mounted = sys::mount("cgroup2", scratch.path().c_str(), "cgroup2", 0, nullptr);
  if (!mounted) {
    BOOST_TEST_MESSAGE("skipped: no unified hierarchy: " << mounted.error().message());
    return;
  }
  const std::string group = scratch / ("ocirun-clone-test-" + std::to_string(::getpid()));
  BOOST_REQUIRE(::mkdir(group.c_str(), 0755) == 0);
  {
    const UniqueFd directory = must(sys::open(group.c_str(), O_RDONLY | O_DIRECTORY));
    const Child child = must(clone_process(0, directory, Parentage::kMine));
    if (child.pid == 0) {
      // Cloned into the cgroup, or moved before it runs: in both cases it first sees its cgroup.
      const bool inside = slurp("/proc/self/cgroup").contains("/ocirun-clone-test-");
      for (;;) {
        if (!inside) ::_exit(1);
        ::pause();
      }
    }
    BOOST_TEST(slurp(group + "/cgroup.procs") == std::to_string(child.pid) + "\n");
    ::kill(child.pid, SIGKILL);
    must(wait_for_child(child.pid));
  }
  BOOST_TEST(comes_true([&] { return ::rmdir(group.c_str()) == 0; }));
  must(sys::unmount(scratch.path().c_str(), 0));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(clone_process_of)

BOOST_AUTO_TEST_CASE(a_child_runs_with_a_copy_of_everything_and_its_status_is_told) {
  int value = 1;
  const Child child = must(clone_process(0, Fd{}, Parentage::kMine));
  if (child.pid == 0) {
    value = 2;
    ::_exit(child.pidfd ? 1 : 40 + value);
  }
  BOOST_TEST(child.pid > 1);
  const int status = must(wait_for_child(child.pid));
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 42);
  BOOST_TEST(value == 1);
}

BOOST_AUTO_TEST_CASE(the_pidfd_is_close_on_exec_and_readable_when_the_child_has_ended) {
  const Child child = must(clone_process(0, Fd{}, Parentage::kMine));
  if (child.pid == 0)
    for (;;) ::pause();
  BOOST_REQUIRE(child.pidfd.get() >= 0);  // Linux 5.2
  BOOST_TEST((::fcntl(child.pidfd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  pollfd end{child.pidfd.get(), POLLIN, 0};
  BOOST_TEST(::poll(&end, 1, 0) == 0);
  ::kill(child.pid, SIGKILL);
  BOOST_TEST(::poll(&end, 1, kHangSeconds * 1000) == 1);
  const int status = must(wait_for_child(child.pid));
  BOOST_TEST(WIFSIGNALED(status));
  BOOST_TEST(WTERMSIG(status) == SIGKILL);
}

BOOST_AUTO_TEST_CASE(each_flag_gives_a_namespace_of_its_own_and_no_other, *needs_root()) {  // L-2
  const std::pair<std::uint64_t, const char*> kinds[] = {
      {CLONE_NEWNS, "mnt"},  {CLONE_NEWUTS, "uts"},       {CLONE_NEWIPC, "ipc"},
      {CLONE_NEWNET, "net"}, {CLONE_NEWCGROUP, "cgroup"}, {CLONE_NEWUSER, "user"}};
  for (const auto& [flag, name] : kinds) {
    const Child child = must(clone_process(flag, Fd{}, Parentage::kMine));
    if (child.pid == 0)
      for (;;) ::pause();
    const std::string theirs = "/proc/" + std::to_string(child.pid) + "/ns/";
    for (const auto& [other_flag, other] : kinds) {
      const bool differs =
          link_of(theirs + other) != link_of(std::string("/proc/self/ns/") + other);
      BOOST_CHECK_MESSAGE(differs == (flag == other_flag), name << " against " << other);
    }
    ::kill(child.pid, SIGKILL);
    must(wait_for_child(child.pid));
  }
}

OCIRUN_CHILD_TEST(the_first_process_of_a_pid_namespace_has_the_number_one, 0) {
  const Child child = must(clone_process(CLONE_NEWPID, Fd{}, Parentage::kMine));
  if (child.pid == 0) ::_exit(::getpid() == 1 && ::getppid() == 0 ? 0 : 1);
  BOOST_TEST(must(wait_for_child(child.pid)) == 0);
}

// After `create` the engine must be able to reap init, with no helper in between.
BOOST_AUTO_TEST_CASE(a_stage_leaves_a_sibling_that_its_parent_collects) {
  Pipe pipe = must(make_pipe());
  const Child stage = must(clone_process(0, Fd{}, Parentage::kMine));
  if (stage.pid == 0) {
    const auto init = clone_process(0, Fd{}, Parentage::kOfMyParent);
    if (!init) ::_exit(9);
    if (init->pid == 0) {
      pipe.writer.reset();  // so that the end of the stream below is the stage's
      const pid_t parent = ::getppid();
      ::usleep(50'000);
      ::_exit(parent == ::getppid() ? 33 : 34);
    }
    const pid_t pid = init->pid;
    ::_exit(::write(pipe.writer.get(), &pid, sizeof pid) == sizeof pid ? 7 : 8);
  }
  pipe.writer.reset();
  pid_t init = 0;
  BOOST_REQUIRE(::read(pipe.reader.get(), &init, sizeof init) == static_cast<ssize_t>(sizeof init));
  BOOST_TEST(WEXITSTATUS(must(wait_for_child(stage.pid))) == 7);
  BOOST_TEST(WEXITSTATUS(must(wait_for_child(init))) == 33);
}

OCIRUN_CHILD_TEST(a_sibling_may_be_the_first_of_new_namespaces, 0) {
  const Pipe pipe = must(make_pipe());
  const Child stage = must(clone_process(0, Fd{}, Parentage::kMine));
  if (stage.pid == 0) {
    const auto init = clone_process(CLONE_NEWPID | CLONE_NEWNS, Fd{}, Parentage::kOfMyParent);
    if (!init) ::_exit(9);
    if (init->pid == 0) ::_exit(::getpid() == 1 ? 55 : 56);
    ::_exit(::write(pipe.writer.get(), &init->pid, sizeof init->pid) > 0 ? 7 : 8);
  }
  pid_t init = 0;
  BOOST_REQUIRE(::read(pipe.reader.get(), &init, sizeof init) == static_cast<ssize_t>(sizeof init));
  BOOST_TEST(WEXITSTATUS(must(wait_for_child(stage.pid))) == 7);
  BOOST_TEST(WEXITSTATUS(must(wait_for_child(init))) == 55);
}

// In a forked child, because the refused system call stays refused.
OCIRUN_CHILD_TEST(a_child_is_born_in_the_cgroup_that_was_given, CLONE_NEWNS) {
  check_birth_in_cgroup();
}
OCIRUN_CHILD_TEST(without_clone3_a_child_waits_until_it_was_moved, CLONE_NEWNS) {
  refuse_system_calls({SYS_clone3});
  check_birth_in_cgroup();
}

OCIRUN_CHILD_TEST(without_clone3_a_directory_that_is_no_cgroup_is_an_error_too, 0) {
  const Scratch scratch;
  const UniqueFd directory = scratch.open();
  refuse_system_calls({SYS_clone3});
  const std::string children_before = children_of_this_process();
  auto child = clone_process(0, directory, Parentage::kMine);
  if (child && child->pid == 0) ::_exit(0);
  BOOST_REQUIRE(!child);
  BOOST_TEST(child.error().number() == ENOENT);
  BOOST_TEST(children_of_this_process() == children_before);
}

BOOST_AUTO_TEST_CASE(a_directory_that_is_no_cgroup_is_an_error_and_makes_no_process) {
  const Scratch scratch;
  const UniqueFd directory = scratch.open();
  const std::string children_before = children_of_this_process();
  auto child = clone_process(0, directory, Parentage::kMine);
  if (child && child->pid == 0) ::_exit(0);
  BOOST_TEST(!child);
  BOOST_TEST(children_of_this_process() == children_before);
}

BOOST_AUTO_TEST_CASE(flags_that_exclude_each_other_are_the_kernels_error) {
  // clone(2): CLONE_FS and CLONE_NEWNS exclude each other.
  auto child = clone_process(CLONE_NEWNS | CLONE_FS, Fd{}, Parentage::kMine);
  if (child && child->pid == 0) ::_exit(0);
  BOOST_REQUIRE(!child);
  BOOST_TEST(child.error().number() == EINVAL);
}

BOOST_AUTO_TEST_CASE(waiting_for_a_process_that_is_not_ours_is_an_error) {
  const auto status = wait_for_child(1);
  BOOST_REQUIRE(!status);
  BOOST_TEST(status.error().number() == ECHILD);
}

BOOST_AUTO_TEST_CASE(a_signal_does_not_end_the_wait) {
  struct sigaction old{};
  struct sigaction on_alarm{};
  on_alarm.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &on_alarm, &old);  // without SA_RESTART
  const Child child = must(clone_process(0, Fd{}, Parentage::kMine));
  if (child.pid == 0) {
    const pid_t parent = ::getppid();
    for (int i = 0; i < 5; ++i) {
      ::usleep(20'000);
      ::kill(parent, SIGALRM);
    }
    ::_exit(3);
  }
  BOOST_TEST(WEXITSTATUS(must(wait_for_child(child.pid))) == 3);
  ::sigaction(SIGALRM, &old, nullptr);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_child_is_told_by_its_status_or_its_signal) {
  BOOST_TEST(describe_end(3 << 8) == "exited with status 3");
  BOOST_TEST(describe_end(SIGKILL) == "was killed by signal 9 (SIGKILL)");
  BOOST_TEST(describe_end(SIGRTMAX) == "was killed by signal 64");
}

BOOST_AUTO_TEST_SUITE_END()
