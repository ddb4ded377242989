#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "bundle/documents/stats.hpp"
#include "linux/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

/// The container's present use of resources. Errors: the cgroup was removed.
Result<bundle::ContainerStats> read_container_stats(const Container& container);

/// Prints a JSON object, which has no newline at its end. An error ends follow_container().
using Print = std::function<Result<void>(const std::string&)>;
/// Prints events until the container has ended: the statistics at once and then every `interval`,
/// and an event for each time that the container runs out of memory. Warns if the host cannot
/// report that a container runs out of memory. Errors: "container is not running"; those of
/// `print`.
Result<void> follow_container(const Container& container, std::chrono::nanoseconds interval,
                              const Log& log, const Print& print);

}  // namespace ocirun::runtime
