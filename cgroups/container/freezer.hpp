#pragma once

#include <chrono>
#include <span>

#include "cgroups/container/cgroup.hpp"
#include "cgroups/hierarchies/node.hpp"

namespace ocirun::cgroups {

/// Freezes or thaws the cgroup through v1's freezer where it is mounted, else through the unified
/// hierarchy; thawing uses both. Returns when the kernel reports that all processes have changed
/// state. A cgroup that does not freeze within `limit` is thawed again. Errors: `limit` has passed;
/// the host has no freezer in either hierarchy.
Result<void> set_freezer(std::span<const Node> nodes, FreezerState state,
                         std::chrono::milliseconds limit);
/// A cgroup is frozen by its own state or by an ancestor's, in either hierarchy. "FREEZING" of v1
/// counts as frozen.
Result<FreezerState> read_freezer(std::span<const Node> nodes);
bool is_frozen(const Node& node);
/// Whether a cgroup that was made just now is frozen: an ancestor is, or is being frozen.
bool is_frozen_from_the_start(const Node& node);
/// v1: thaws the cgroup and all nested ones, because a process that the container has frozen itself
/// could not die. Does nothing on v2, where SIGKILL ends a frozen process too.
Result<void> thaw_all(std::span<const Node> nodes);

}  // namespace ocirun::cgroups
