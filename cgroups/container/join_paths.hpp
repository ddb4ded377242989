#pragma once

#include <span>
#include <string>

#include "cgroups/container/cgroup.hpp"
#include "cgroups/hierarchies/node.hpp"

namespace ocirun::cgroups {

/// Opens the descriptors through which a process joins `nodes`, or the cgroups below them that
/// `paths` name (see Cgroup::open_for_join).
Result<Cgroup::JoinHandles> open_join_handles(std::span<const Node> nodes,
                                              std::span<const std::string> paths);

}  // namespace ocirun::cgroups
