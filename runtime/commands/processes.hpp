#pragma once

#include <vector>

#include "linux/base/error.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::runtime {

/// A process as /proc shows it.
struct ProcessEntry {
  linux::ProcessIdentity process;
  int parent = 0;
  bool in_container = false;  // in the container's own pid namespace
};

/// Selects `init`, the processes of its pid namespace, and the descendants of both; by ascending
/// pid.
std::vector<linux::ProcessIdentity> select_processes(std::vector<ProcessEntry> all, int init);

/// The processes of a container without a cgroup. If the container has its own pid namespace: the
/// processes of that namespace, and their descendants. Otherwise: init and its descendants. Left
/// out are zombies, as in a cgroup's list, processes that end meanwhile, and processes that the
/// caller may not inspect.
Result<std::vector<linux::ProcessIdentity>> find_processes(int init, bool own_pid_namespace);

/// Sends `signal` to the processes of find_processes() except init. The caller signals init last.
/// SIGKILL is sent in several rounds, because a process may fork during a round.
Result<void> signal_without_cgroup(const linux::ProcessIdentity& init, bool own_pid_namespace,
                                   int signal);

}  // namespace ocirun::runtime
