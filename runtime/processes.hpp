#pragma once

#include <string_view>
#include <vector>

#include "linux/error.hpp"

namespace ocirun::runtime {

/// A process as /proc shows it.
struct ProcessEntry {
  int pid = 0;
  int parent = 0;
  bool in_container = false;  // in the container's own pid namespace
};

/// The parent's number in a text of /proc/PID/stat; 0 where it is not visible; kNoProcess for a
/// zombie, which cgroups do not list either, and for what is no such text.
inline constexpr int kNoProcess = -1;
int parent_in_stat(std::string_view stat);

/// Of `all`: `init`, those in its pid namespace, and whatever descends from them; ascending.
std::vector<int> select_processes(std::vector<ProcessEntry> all, int init);

/// The processes of a container that has no cgroup to list them: those of init's pid namespace
/// where it is the container's own, their descendants, or else init's. What ends meanwhile, or may
/// not be looked at, is left out.
Result<std::vector<int>> find_processes(int init, bool own_pid_namespace);

}  // namespace ocirun::runtime
