#pragma once

#include "pods/run/run_pod.hpp"

namespace ocirun::pods::cli {

/// Prints the reports of a pod in the foreground. `has_prefix`: the lines of the containers begin
/// with "CONTAINER | ".
Listener terminal_listener(bool has_prefix);

/// Prints the reports of a detached pod, until the pod is started.
Listener detached_listener(const std::string& pod, Afterwards afterwards);

}  // namespace ocirun::pods::cli
