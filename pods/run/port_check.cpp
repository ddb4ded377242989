#include "pods/run/port_check.hpp"

#include <algorithm>

#include "pods/state/record.hpp"
#include "pods/surroundings/ports.hpp"

namespace ocirun::pods {
namespace {

/// The pod that a process works for; "": none of `pods`.
std::string pod_of(const PodsDirectory& pods, int pid) {
  const auto names = pods.names();
  if (!names) return "";
  for (const std::string& name : *names) {
    const auto directory = pods.open_pod(name);
    const auto record = directory ? read_record(directory->fd()) : Result<PodRecord>();
    if (!directory || !record) continue;
    const bool is_container = std::ranges::any_of(
        record->containers, [&](const ContainerRecord& container) { return container.pid == pid; });
    if (record->forwarder.pid == pid || is_container) return fmt::format("the pod \"{}\"", name);
  }
  return "";
}

}  // namespace

Result<void> check_ports(const Workload& workload, const NetworkPlan& network,
                         const PodsDirectory& pods,
                         const std::function<void(const std::string&)>& warn) {
  const auto check = [&](const Forward& forward) {
    auto checked = check_free(forward, [&](int pid) { return pod_of(pods, pid); });
    return forward.place == nullptr ? checked
                                    : within(std::move(checked), workload.at(forward.place));
  };
  for (const Forward& forward : network.forwards) TRY(check(forward));
  if (network.visible() != Network::kHost || !warn) return {};
  TRY_ASSIGN(const std::vector<Forward> forwards, forwards_of(workload.pod));
  for (const Forward& forward : forwards)
    if (const auto checked = check(forward); !checked) warn(checked.error().message());
  return {};
}

}  // namespace ocirun::pods
