#pragma once

#include <chrono>
#include <optional>

#include "pods/documents/model/pod.hpp"

namespace ocirun::pods {

/// The time for --wait-ready of a service: the longest that the startup and readiness probes of a
/// container let pass before the first of them gives up, and `least` (--wait-ready's default, or
/// that of the kind of document) at least. The times of containers that start one after another are
/// added up. Nothing if no container has such a probe.
std::optional<std::chrono::seconds> ready_time(const Pod& pod, std::chrono::seconds least);

/// The time until a service counts as hung while it starts: `ready_within`, and five minutes for
/// images and preparations. Nothing if the start may take any time: init containers have no limit,
/// nor has a container that waits for another one, if nothing limits the wait.
std::optional<std::chrono::seconds> start_limit(const Pod& pod,
                                                std::optional<std::chrono::seconds> ready_within);

}  // namespace ocirun::pods
