#pragma once

#include <string_view>

#include "cgroups/hierarchies/node.hpp"

namespace ocirun::cgroups {

/// v1: a cgroup can have no more real-time runtime than its ancestors, and a new cgroup has none.
/// Adds `runtime`, which a container of ours asks for (in microseconds of its cpu.rt_period_us), to
/// the parents that belong to ocirun: /ocirun and below. Other parents were named by somebody else,
/// who has to give them runtime.
void make_room_for_realtime(const Node& node, std::string_view runtime);

}  // namespace ocirun::cgroups
