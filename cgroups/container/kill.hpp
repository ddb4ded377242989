#pragma once

#include <span>
#include <string>
#include <vector>

#include "cgroups/hierarchies/node.hpp"

namespace ocirun::cgroups {

/// The pids in the cgroup `path` and below it, ascending; processes of other pid namespaces have no
/// number here and are left out. Missing is no error.
Result<std::vector<int>> pids_below(const std::string& path);

/// Signals those of `pids` but the caller that the cgroup `path`, or one below it, still lists once
/// they are held by pidfds.
Result<void> signal_pids(const std::string& path, std::vector<int> pids, int signal);

/// The node that tells who belongs to the container: unified, else the freezer's, else the first.
const Node& primary_node(std::span<const Node> nodes);

/// Signals every process; see Cgroup::signal_all.
Result<void> signal_processes(std::span<const Node> nodes, int signal);

/// Removes all nodes with what is nested in them, killing what is left; see Cgroup::destroy.
Result<void> remove_nodes(std::span<const Node> nodes);

/// Kills what is left in them and below; the directories stay.
Result<void> empty_nodes(std::span<const Node> nodes);

}  // namespace ocirun::cgroups
