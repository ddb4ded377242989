#include <fmt/ranges.h>

#include <chrono>

#include "linux/base/patience.hpp"
#include "pods/run/manage.hpp"
#include "pods/run/supervisor_signals.hpp"

namespace ocirun::pods {
namespace {

constexpr std::chrono::seconds kPatienceForStart{60};

/// The index of a container that can be restarted.
Result<std::size_t> index_of(const PodRecord& record, const std::string& container) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < record.containers.size(); ++i) {
    if (record.containers[i].is_init) continue;
    if (record.containers[i].name == container) return i;
    names.push_back(record.containers[i].name);
  }
  return refuse("the pod has no container \"{}\" that can be restarted, but {}", container,
                fmt::join(names, ", "));
}

}  // namespace

Result<void> restart_container(const PodsDirectory& pods, const std::string& name,
                               const std::string& container) {
  OCIRUN_TRY_ASSIGN(const PodDirectory directory, pods.open_pod(name));
  OCIRUN_TRY_ASSIGN(const PodView view, view_pod(pods, name));
  if (!view.is_supervised || shown_status(view.record) != name_of(PodStatus::kRunning))
    return refuse(
        "the pod is {}, and a container can be restarted in a running pod only: without "
        "-c, `ocirun pod restart` starts the whole pod",
        shown_status(view.record));
  OCIRUN_TRY_ASSIGN(const std::size_t index, index_of(view.record, container));
  const std::uint32_t before = view.record.containers[index].restarts;
  const auto limit = view.record.grace + kPatienceForStart;
  linux::Patience patience(limit);
  std::string reason = "the supervisor has not answered";
  auto ask = std::chrono::steady_clock::now();
  do {
    OCIRUN_TRY_ASSIGN(const PodRecord now, read_record(directory.fd()));
    if (!is_supervised(now)) return refuse("the pod has ended meanwhile");
    const ContainerRecord& record = now.containers.at(index);
    if (record.restarts != before && record.status == ContainerStatus::kRunning) return {};
    if (!record.reason.empty()) reason = record.reason;
    // Again: the kernel drops a signal while the same one, for another container, is pending.
    if (record.restarts != before || std::chrono::steady_clock::now() < ask) continue;
    OCIRUN_TRY(ask_to_restart(view.record.supervisor, RestartRequest::of(index, before)));
    ask += std::chrono::seconds(2);
  } while (patience.wait());
  return refuse("container \"{}\" was not restarted within {} s: {}", container, limit.count(),
                reason);
}

}  // namespace ocirun::pods
