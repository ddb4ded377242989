#include "linux/clone.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif

namespace ocirun::linux {
namespace {

// <linux/sched.h> clashes with glibc's <sched.h>; this is clone_args as of Linux 5.7, its size told
// to the kernel.
struct CloneArguments {
  std::uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
      set_tid_size, cgroup;
};

Child child_of(long pid, int pidfd, bool joined_cgroup) {
  if (pid == 0) return {};
  return {.pid = static_cast<int>(pid), .pidfd = UniqueFd(pidfd), .joined_cgroup = joined_cgroup};
}

// Linux before 5.3, or a filter that answers ENOSYS.
Result<Child> clone_legacy(std::uint64_t flags) {
  int pidfd = -1;
  const long pid = ::syscall(SYS_clone, flags | CLONE_PIDFD, nullptr, &pidfd, nullptr, nullptr);
  if (pid < 0) return fail(errno, "clone");
  return child_of(pid, pidfd, false);
}

}  // namespace

Result<Child> clone_process(std::uint64_t flags, Fd cgroup, Parentage parentage) {
  int pidfd = -1;
  const bool sibling = parentage == Parentage::kOfMyParent;
  CloneArguments arguments{};
  arguments.flags = flags | CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
  // With CLONE_PARENT the kernel takes the exit signal from the caller and wants 0 here.
  if (sibling) {
    arguments.flags |= CLONE_PARENT;
  } else {
    arguments.exit_signal = SIGCHLD;
  }
  if (cgroup.value >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(cgroup.value);
  }
  const long pid = ::syscall(SYS_clone3, &arguments, sizeof(arguments));
  if (pid >= 0) return child_of(pid, pidfd, cgroup.value >= 0);
  // A container's seccomp profile may know clone(2) only, and then a startContainer hook needs that
  // one.
  const bool refused = errno == EPERM && flags == 0 && cgroup.value < 0;
  if (errno == ENOSYS || errno == E2BIG || refused)
    return clone_legacy(flags | (sibling ? std::uint64_t{CLONE_PARENT} : std::uint64_t{SIGCHLD}));
  return fail(errno, "clone");
}

Result<int> wait_for_child(int pid) {
  for (;;) {
    int status = 0;
    if (::waitpid(pid, &status, __WALL) == pid) return status;
    if (errno != EINTR) return fail(errno, "wait for process {}", pid);
  }
}

}  // namespace ocirun::linux
