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

/// What a container uses now. Errors: its cgroup is gone.
Result<bundle::ContainerStats> read_container_stats(const Container& container);

/// Takes a JSON object without a newline; its error ends what prints.
using Print = std::function<Result<void>(const std::string&)>;
/// Tells of a container until it is gone: its stats at once and then every `interval`, and each
/// time that the kernel runs out of its memory; a warning where nothing counts that. Errors:
/// "container is not running"; those of `print`.
Result<void> follow_container(const Container& container, std::chrono::nanoseconds interval,
                              const Log& log, const Print& print);

}  // namespace ocirun::runtime
