#pragma once

#include <string_view>

#include "cgroups/hierarchies/node.hpp"

namespace ocirun::cgroups {

/// v1: a cgroup can have no more real-time runtime than those above it, and new ones have none.
/// Adds what a container of ours asks for (`runtime`, in microseconds of its cpu.rt_period_us) to
/// the parents that are ours, /ocirun and below. Parents that somebody else named are theirs to
/// fill.
void make_room_for_realtime(const Node& node, std::string_view runtime);

}  // namespace ocirun::cgroups
