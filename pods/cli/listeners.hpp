#pragma once

#include "pods/run/run_pod.hpp"

namespace ocirun::pods::cli {

/// Prints what a pod in the foreground tells. `has_prefix`: the lines of the containers begin with
/// "CONTAINER | ".
Listener terminal_listener(bool has_prefix);

/// Prints what a pod that nobody watches tells until it is started.
Listener detached_listener(const std::string& pod, Afterwards afterwards);

}  // namespace ocirun::pods::cli
