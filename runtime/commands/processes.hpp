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

/// Of `all`: `init`, those in its pid namespace, and whatever descends from them; ascending.
std::vector<linux::ProcessIdentity> select_processes(std::vector<ProcessEntry> all, int init);

/// The processes of a container that has no cgroup to list them: those of init's pid namespace
/// where it is the container's own, their descendants, or else init's. What ends meanwhile, or may
/// not be looked at, is left out; so are zombies, which cgroups do not list either.
Result<std::vector<linux::ProcessIdentity>> find_processes(int init, bool own_pid_namespace);

/// Signals those of find_processes but init itself, whose turn comes last. With SIGKILL in several
/// rounds, because a process may fork while we look.
Result<void> signal_without_cgroup(const linux::ProcessIdentity& init, bool own_pid_namespace,
                                   int signal);

}  // namespace ocirun::runtime
