#include "pods/run/run_pod.hpp"

#include <utility>

#include "pods/metadata/reify.hpp"
#include "pods/prepare/admit.hpp"
#include "pods/run/launching.hpp"
#include "pods/run/pod_images.hpp"
#include "pods/run/port_check.hpp"
#include "pods/run/take_down.hpp"
#include "pods/surroundings/network.hpp"
#include "pods/surroundings/pod_cgroup.hpp"

namespace ocirun::pods {

std::expected<int, PodFailure> run_pod(Workload& workload, const Settings& settings,
                                       Afterwards afterwards, const Listener& listener) {
  TRY(replace_parts(settings.given, workload.pod));
  TRY(check_given(settings.given, workload));
  if (settings.has_metadata) TRY(check_metadata(workload));
  TRY(admit(workload, settings.given));
  std::string cgroup;
  if (!settings.systemd_cgroups) {
    TRY_ASSIGN(cgroup, cgroup_path_for(settings.name));
    if (cgroup.empty()) TRY(check_unlimited(workload, settings.given));
    if (cgroup.empty() && listener.warn && has_requests(workload.pod))
      listener.warn(
          "no cgroup is delegated to you: what the containers request is there, and nothing keeps "
          "it for them while they run");
  }
  TRY_ASSIGN(NetworkPlan network, plan_network(workload.pod, settings.network));
  for (const std::string& warning : network.warnings)
    if (listener.warn) listener.warn(warning);
  TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(settings.data));
  TRY(check_ports(workload, network, pods, listener.warn));
  // This may take minutes, and leaves nothing that has to be removed: a signal may end it anywhere.
  TRY_ASSIGN(Images images, find_images(workload, settings, listener));
  TRY_ASSIGN(StopSignals signals, StopSignals::block());
  TRY_ASSIGN(PodDirectory directory, pods.make_pod(settings.name));
  const auto lock = directory.lock();
  if (!lock) {
    static_cast<void>(directory.remove());
    return std::unexpected(lock.error());
  }
  Launching launching(workload, settings, std::move(directory), std::move(network),
                      std::move(images), std::move(cgroup), std::move(signals), listener);
  const Result<int> status = launching.run();
  const auto taken_down = launching.take_down();
  // What could not be removed must be found by `delete`.
  const bool is_wanted =
      afterwards == Afterwards::kKeep || (afterwards == Afterwards::kKeepIfStarted && status);
  const auto cleaned = taken_down && !is_wanted
                           ? launching.directory().remove()
                           : record_end(launching.directory(), launching.ended_record(status));
  if (!status && !taken_down)
    return refuse("{}; and what was started could not be removed: {}", status.error().message(),
                  taken_down.error().message());
  TRY(taken_down);
  TRY(cleaned);
  if (status) return *status;
  return std::unexpected(PodFailure(status.error(), launching.failure_status()));
}

}  // namespace ocirun::pods
