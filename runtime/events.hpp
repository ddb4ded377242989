#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "bundle/stats_document.hpp"
#include "linux/error.hpp"
#include "runtime/container.hpp"
#include "runtime/log.hpp"

namespace ocirun::runtime {

/// What a container uses now. Errors: its cgroup is gone.
Result<bundle::ContainerStats> read_container_stats(const Container& container);

/// Tells of a container until it is gone: its stats at once and then every `interval`, and each
/// time that the kernel runs out of its memory; a warning where nothing counts that. `print` gets a
/// JSON object without a newline; its errors end it. Errors: "container is not running".
using Print = std::function<Result<void>(const std::string&)>;
Result<void> follow_container(const Container& container, std::chrono::nanoseconds interval,
                              const Log& log, const Print& print);

}  // namespace ocirun::runtime
