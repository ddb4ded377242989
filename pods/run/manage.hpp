#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "pods/state/pod_directory.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {

/// Removes all that a pod has outside of its directory: its containers, cgroup, and processes.
/// Continues after an error; returns the first.
Result<void> take_down(const PodRecord& record);

/// Writes the end of the pod into its record, which stays for `status`.
Result<void> record_end(const PodDirectory& directory, PodRecord record);

/// A pod as `status` tells it: what its record says, and what of it is still true.
struct PodView {
  PodRecord record;
  bool is_supervised = false;
};

/// Errors: no pod of this name. A pod whose start was cut off before its first record is told as
/// failed.
Result<PodView> view_pod(const PodsDirectory& pods, const std::string& name);

/// A pod whose supervisor was asked to stop it.
struct StoppingPod {
  std::string name;
  linux::ProcessEnd end;  // of the supervisor
  std::chrono::seconds patience;
  std::chrono::steady_clock::time_point deadline;
};

/// Asks the supervisor of a pod to stop it. `grace`: between the signal to stop and SIGKILL;
/// without it, what the pod was run with. Nothing: the pod has no supervisor (any more).
Result<std::optional<StoppingPod>> begin_stop(const PodsDirectory& pods, const std::string& name,
                                              std::optional<std::chrono::seconds> grace);
/// Waits for the end of a pod: at most its grace and a minute. The supervisor keeps on stopping
/// after an error.
Result<void> await_stop(const StoppingPod& pod);
/// Takes a pod without supervisor down. A pod that has ended is no error.
Result<void> take_down_pod(const PodsDirectory& pods, const std::string& name);

/// Removes a pod and all that is left of it. Errors: the pod runs, unless `force`.
enum class Force : std::uint8_t { kNo, kYes };
Result<void> delete_pod(const PodsDirectory& pods, const std::string& name, Force force);

}  // namespace ocirun::pods
