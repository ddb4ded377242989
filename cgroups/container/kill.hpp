#pragma once

#include <span>
#include <string>
#include <vector>

#include "cgroups/hierarchies/node.hpp"

namespace ocirun::cgroups {

/// The pids in the cgroup `path` and below it, ascending. Processes of other pid namespaces have no
/// number here and are left out. A missing cgroup is no error.
Result<std::vector<int>> pids_below(const std::string& path);
/// The same with the pid 0 once if cgroup v2 lists processes of other pid namespaces. Cgroup v1
/// does not list them.
Result<std::vector<int>> listed_below(const std::string& path);

/// Signals the processes `pids`, except the caller. Opens a pidfd of each process first, and
/// signals it only if the cgroup `path`, or a cgroup below, still lists it then: see
/// linux::signal_listed().
Result<void> signal_pids(const std::string& path, std::vector<int> pids, int signal);

/// The node whose processes count as the processes of the container: the unified one, else the one
/// of the freezer, else the first.
const Node& primary_node(std::span<const Node> nodes);

/// Signals every process; see Cgroup::signal_all.
Result<void> signal_processes(std::span<const Node> nodes, int signal);

/// Kills the remaining processes and removes all nodes with the cgroups nested in them; see
/// Cgroup::destroy.
Result<void> remove_nodes(std::span<const Node> nodes);

/// Kills the processes in `nodes` and below. The directories stay.
Result<void> empty_nodes(std::span<const Node> nodes);

}  // namespace ocirun::cgroups
