#pragma once

#include <chrono>
#include <span>

#include "cgroups/container/cgroup.hpp"
#include "cgroups/hierarchies/node.hpp"

namespace ocirun::cgroups {

/// Freezes or thaws: v1's freezer where it is mounted, else the unified hierarchy's; thawing ends
/// both. Returns when the kernel says that all of it is done; a cgroup that does not freeze in time
/// is thawed again. Errors: it did not stop in time, neither is there.
Result<void> set_freezer(std::span<const Node> nodes, FreezerState state,
                         std::chrono::milliseconds limit);
/// Frozen by its own or by an ancestor's state, in either hierarchy; "freezing" counts.
Result<FreezerState> read_freezer(std::span<const Node> nodes);
bool is_frozen(const Node& node);
/// Thaws every cgroup below too: what a container froze itself could not die.
Result<void> thaw_all(std::span<const Node> nodes);

}  // namespace ocirun::cgroups
