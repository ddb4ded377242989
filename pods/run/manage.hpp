#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "pods/run/take_down.hpp"

namespace ocirun::pods {

/// A pod as `status` tells it: what its record says, and what of it is still true.
struct PodView {
  PodRecord record;
  bool is_supervised = false;
};

/// Errors: no pod of this name. A pod whose start was cut off before its first record is told as
/// failed.
Result<PodView> view_pod(const PodsDirectory& pods, const std::string& name);

/// Asks the supervisor of a pod to stop it, and waits for the end: at most `grace` and a minute.
/// `grace`: between the signal to stop and SIGKILL; without it, what the pod was run with. The
/// supervisor keeps on stopping after an error. Without a supervisor, takes the pod down. A pod
/// that has ended is no error.
Result<void> stop_pod(const PodsDirectory& pods, const std::string& name,
                      std::optional<std::chrono::seconds> grace);

/// Removes a pod and all that is left of it. Errors: the pod runs, unless `force`.
enum class Force : std::uint8_t { kNo, kYes };
Result<void> delete_pod(const PodsDirectory& pods, const std::string& name, Force force);

}  // namespace ocirun::pods
