#pragma once

#include <chrono>
#include <optional>

#include "pods/documents/model/pod.hpp"

namespace ocirun::pods {

/// The time for --wait-ready of a service: how long the startup probe and then the readiness probe
/// of a container may take until they have failed for good, and `least` at least. Takes the longest
/// time of all containers; if one starts after another, the sum of all times. Nothing if no
/// container has such a probe.
std::optional<std::chrono::seconds> ready_time(const Pod& pod, std::chrono::seconds least);

/// The time until a service counts as hung while it starts: `ready_within`, and five minutes for
/// images and preparations. Nothing if the start may take any time: init containers have no limit,
/// nor has a container that waits for another one, if nothing limits the wait.
std::optional<std::chrono::seconds> start_limit(const Pod& pod,
                                                std::optional<std::chrono::seconds> ready_within);

}  // namespace ocirun::pods
