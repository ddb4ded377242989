#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "linux/programs/program.hpp"
#include "pods/run/networks/membership.hpp"
#include "pods/state/pod_directory.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {

/// The directory of the bundles in the directory of a pod, and the path of a container's bundle.
inline constexpr const char* kContainers = "containers";
std::string bundle_path(const PodDirectory& directory, const std::string& container);

/// Removes everything that a pod has outside of its directory: containers, cgroup, processes, its
/// membership in a network. A pod of an earlier boot has nothing. Continues after an error, and
/// returns the first one. A command of the runtime may take `patience`.
Result<void> take_down(const PodDirectory& directory, const PodRecord& record,
                       std::chrono::seconds patience = linux::kProgramPatience);

/// Whether take_down() has removed everything.
enum class Left : std::uint8_t { kNothing, kSome };
/// Records the end of the pod, for a later `status`. With Left::kSome, the record keeps the cgroup,
/// the slice, and the claims of ids, for `delete`. With Left::kNothing, the record loses them,
/// because another pod may use these names later.
Result<void> record_end(const PodDirectory& directory, PodRecord record, Left left);

/// The record of a pod, corrected by the present state of its processes.
struct PodView {
  PodRecord record;
  bool is_supervised = false;
  bool lost_supervisor = false;  // killed since the boot, after all containers had been started
  NetworkPlace network;
};

/// Reads the state of a pod. A pod whose start was cut off before its first record has the status
/// kFailed. Errors: there is no pod of this name.
Result<PodView> view_pod(const PodsDirectory& pods, const std::string& name);
/// Asks the runtime which programs of a pod that has lost its supervisor still run, and corrects
/// the record. A container about which the runtime fails stays as it is.
void look_at_programs(PodRecord& record);

/// A pod whose supervisor has been asked to stop.
struct StoppingPod {
  std::string name;
  linux::ProcessEnd end;  // of the supervisor
  std::chrono::seconds patience;
  std::chrono::steady_clock::time_point deadline;
};

/// What a second request to stop does. kKills: it ends the grace period. kWaits: nothing, unless it
/// has a grace period of its own.
enum class Again : std::uint8_t { kKills, kWaits };

/// Asks the supervisor of a pod to stop the pod. `grace`: the time between the stop signal and
/// SIGKILL; nothing: the time that the pod was run with. Returns nothing if the pod has no
/// supervisor (any more).
Result<std::optional<StoppingPod>> begin_stop(const PodsDirectory& pods, const std::string& name,
                                              std::optional<std::chrono::seconds> grace,
                                              Again again = Again::kKills);
/// Waits until the supervisor of the pod has ended: at most the grace period and a minute after
/// begin_stop(). Error: this time is over; the supervisor goes on to stop the pod.
Result<void> await_stop(const StoppingPod& pod);
/// Takes down a pod without a supervisor. Does nothing if the pod has ended. Errors: the record
/// cannot be read; it then stays.
Result<void> take_down_pod(const PodsDirectory& pods, const std::string& name);

/// Restarts one container of a pod that runs, and waits until its program runs again: at most the
/// grace period of the pod and a minute.
Result<void> restart_container(const PodsDirectory& pods, const std::string& name,
                               const std::string& container);

enum class Force : std::uint8_t { kNo, kYes };
/// Removes a pod and everything that is left of it. Errors: the pod runs, and `force` is kNo.
Result<void> delete_pod(const PodsDirectory& pods, const std::string& name, Force force);

}  // namespace ocirun::pods
