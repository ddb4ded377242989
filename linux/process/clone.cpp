#include "linux/process/clone.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "linux/base/file_io.hpp"
#include "linux/base/outer_filter.hpp"
#include "linux/base/patience.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/timeline.hpp"

#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif

namespace ocirun::linux {
namespace {

constexpr std::chrono::milliseconds kPatienceWithTheKilled{2000};

// struct clone_args of Linux 5.7; clone3(2) gets the size of the struct. <linux/sched.h> cannot be
// included, because it clashes with glibc's <sched.h>.
struct CloneArguments {
  std::uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
      set_tid_size, cgroup;
};

Child child_of(long pid, int pidfd) {
  if (pid == 0) return {};
  return {.pid = static_cast<int>(pid), .pidfd = UniqueFd(pidfd)};
}

Result<void> move_to_cgroup(Fd cgroup, int pid) {
  OCIRUN_TRY_ASSIGN(const UniqueFd file, sys::openat(cgroup, "cgroup.procs", O_WRONLY));
  return sys::write_once(file, fmt::format("{}", pid));
}

/// Calls clone(2). Needed where the kernel lacks clone3(2) or a seccomp filter refuses clone3(2).
Result<Child> clone_plainly(std::uint64_t flags) {
  int pidfd = -1;
  const auto word = static_cast<unsigned long>(flags | CLONE_PIDFD);  // an argument is one word
#ifdef __s390x__
  const long pid = ::syscall(SYS_clone, nullptr, word, &pidfd, nullptr, nullptr);
#else
  const long pid = ::syscall(SYS_clone, word, nullptr, &pidfd, nullptr, nullptr);
#endif
  if (pid < 0) return fail(errno, "clone");
  if (pid == 0) timeline::mute();
  return child_of(pid, pidfd);
}

/// The child waits until the parent has moved the child into the cgroup, so the child does no work
/// outside of the cgroup.
Result<Child> clone_and_move(std::uint64_t flags, Fd cgroup) {
  OCIRUN_TRY_ASSIGN(Pipe gate, make_pipe());
  OCIRUN_TRY_ASSIGN(Child child, clone_plainly(flags));
  if (child.pid == 0) {
    gate.writer.reset();
    const auto opened = sys::read_all(gate.reader, 1);
    if (!opened || opened->empty()) ::_exit(1);
    return child;
  }
  gate.reader.reset();
  auto moved = move_to_cgroup(cgroup, child.pid);
  if (!moved) {
    gate.writer.reset();
    OCIRUN_TRY(wait_for_child(child.pid));
    return std::unexpected(moved.error().within("move a process into its cgroup"));
  }
  // An error is ignored: a child that was killed in the cgroup has an exit status that says so.
  ignore(sys::write_once(gate.writer, "1"));
  return child;
}

bool has_ended(int pid) {
  siginfo_t end{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &end, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 ||
         end.si_pid != 0;
}

bool ends_within(const Child& child, std::chrono::milliseconds patience) {
  if (child.pidfd) {
    pollfd end{child.pidfd.get(), POLLIN, 0};
    return ::poll(&end, 1, static_cast<int>(patience.count())) == 1;
  }
  Patience left(patience);
  while (!has_ended(child.pid))
    if (!left.wait()) return false;
  return true;
}

}  // namespace

Result<Child> clone_process(std::uint64_t flags, Fd cgroup, Parentage parentage) {
  int pidfd = -1;
  const bool sibling = parentage == Parentage::kOfMyParent;
  CloneArguments arguments{};
  arguments.flags = flags | CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
  // With CLONE_PARENT the kernel takes the exit signal from the caller, and requires 0 here.
  if (sibling) {
    arguments.flags |= CLONE_PARENT;
  } else {
    arguments.exit_signal = SIGCHLD;
  }
  if (cgroup.value >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(cgroup.value);
  }
  const long pid = [&] {
    const timeline::Call call("clone3");
    const long done = ::syscall(SYS_clone3, &arguments, sizeof(arguments));
    if (done == 0) timeline::mute();
    return done;
  }();
  if (pid >= 0) return child_of(pid, pidfd);
  // A filter may allow clone(2) and refuse clone3(2): that of an outer container, or the
  // container's own, under which the runtime starts a startContainer hook.
  const bool is_refused = errno == EPERM && is_filtered(SYS_clone3);
  if (errno != ENOSYS && errno != E2BIG && !is_refused) return fail(errno, "clone");
  const std::uint64_t legacy = flags | (sibling ? std::uint64_t{CLONE_PARENT} : SIGCHLD);
  return cgroup.value < 0 ? clone_plainly(legacy) : clone_and_move(legacy, cgroup);
}

Result<int> wait_for_child(int pid) {
  const timeline::Wait wait("wait for the end of a process");
  for (;;) {
    int status = 0;
    if (::waitpid(pid, &status, __WALL) == pid) return status;
    if (errno != EINTR) return fail(errno, "wait for process {}", pid);
  }
}

std::string describe_end(std::optional<int> status) {
  if (!status) return "has ended with an unknown status";
  if (WIFEXITED(*status)) return fmt::format("exited with status {}", WEXITSTATUS(*status));
  const char* name = ::sigabbrev_np(WTERMSIG(*status));
  return fmt::format("was killed by signal {}{}", WTERMSIG(*status),
                     name == nullptr ? "" : fmt::format(" (SIG{})", name));
}

std::optional<int> collect_child(Child& child, std::chrono::milliseconds patience) {
  if (!ends_within(child, patience)) return std::nullopt;
  const auto status = wait_for_child(child.pid);
  child.pid = 0;  // the pid may be reused from now on
  return status.value_or(0);
}

void kill_child(Child& child) {
  if (child.pid <= 0) return;  // no child, or a reaped one: kill(0) would reach our process group
  ::kill(child.pid, SIGKILL);  // the child is not reaped yet, so no other process has its pid
  collect_child(child, kPatienceWithTheKilled);
  child.pid = 0;
}

}  // namespace ocirun::linux
