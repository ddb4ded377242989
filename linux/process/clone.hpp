#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// A process that clone_process made. In the child itself `pid` is 0 and `pidfd` empty.
struct Child {
  int pid = 0;
  UniqueFd pidfd;  // empty where the kernel lacks CLONE_PIDFD
};

/// Whose child the new process is. kOfMyParent (CLONE_PARENT) lets a stage leave nobody in between.
enum class Parentage { kMine, kOfMyParent };

/// fork(2) with namespaces: clone3(2) with `flags` (CLONE_NEW*), straight into `cgroup` (a v2
/// directory, or -1, as it must be for kOfMyParent). Before Linux 5.7 clone(2), and the child waits
/// until it was moved there. The caller is responsible for being single-threaded. Errors: EPERM,
/// ENOSPC (too many namespaces), EAGAIN, ENOMEM, EUSERS; of the cgroup EACCES, EBUSY, EOPNOTSUPP.
Result<Child> clone_process(std::uint64_t flags, Fd cgroup, Parentage parentage);

/// Waits for a child of ours, whatever its exit signal. Returns the status as waitpid(2) gives it.
Result<int> wait_for_child(int pid);

/// Collects `child` if it ends within `patience`; its pid is 0 then. Its status as waitpid(2) gives
/// it; nothing where it has not ended.
std::optional<int> collect_child(Child& child, std::chrono::milliseconds patience);

/// Kills and collects `child`. A filesystem that does not answer holds up even who was killed:
/// after two seconds it is left to whoever takes our children over.
void kill_child(Child& child);

}  // namespace ocirun::linux
