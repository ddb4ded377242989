#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// A process that clone_process made. In the child itself `pid` is 0 and `pidfd` empty.
struct Child {
  int pid = 0;
  UniqueFd pidfd;  // empty where the kernel lacks CLONE_PIDFD
};

/// The parent of the new process: the caller, or the caller's parent (CLONE_PARENT). With
/// kOfMyParent, the process that a stage clones is a child of the stage's parent, and stays so when
/// the stage exits.
enum class Parentage { kMine, kOfMyParent };

/// fork(2) with namespaces: clone3(2) with `flags` (CLONE_NEW*), directly into `cgroup` (a v2
/// directory, or -1; it has to be -1 for kOfMyParent). Without clone3 (before Linux 5.7 for a
/// cgroup, or a seccomp filter refuses it) this uses clone(2), and the child waits until the parent
/// has moved it into the cgroup. The caller must have a single thread. Errors: EPERM, ENOSPC (too
/// many namespaces), EAGAIN, ENOMEM, EUSERS; because of the cgroup: EACCES, EBUSY, EOPNOTSUPP.
Result<Child> clone_process(std::uint64_t flags, Fd cgroup, Parentage parentage);

/// Waits for a child of the caller, whatever its exit signal. Returns the status of waitpid(2).
Result<int> wait_for_child(int pid);

/// How a child ended, by the status of waitpid(2): "exited with status 3", "was killed by signal 9
/// (SIGKILL)". Nothing: the status is not known.
std::string describe_end(std::optional<int> status);

/// Waits at most `patience` for the end of `child`. If the child has ended, sets its pid to 0 and
/// returns the status of waitpid(2). Otherwise returns nothing.
std::optional<int> collect_child(Child& child, std::chrono::milliseconds patience);

/// Kills `child`, waits at most two seconds for its end, and sets its pid to 0. A killed process
/// can still hang in a filesystem that does not respond: such a child is left to the process that
/// adopts the caller's children.
void kill_child(Child& child);

}  // namespace ocirun::linux
