#pragma once

#include <span>
#include <string>

#include "cgroups/container/cgroup.hpp"
#include "cgroups/hierarchies/node.hpp"

namespace ocirun::cgroups {

/// Opens what a joining process writes to, below each node where `paths` say so (see
/// Cgroup::open_for_join).
Result<Cgroup::JoinHandles> open_join_handles(std::span<const Node> nodes,
                                              std::span<const std::string> paths);

}  // namespace ocirun::cgroups
