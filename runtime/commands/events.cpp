#include "runtime/commands/events.hpp"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>

#include "bundle/config/config.hpp"
#include "cgroups/statistics/stats.hpp"
#include "linux/resctrl/group.hpp"

namespace ocirun::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// The statistics of the container's resctrl group. Nothing if the record names no group: without
/// intelRdt, resctrl is not touched (I-1).
std::optional<linux::ResctrlStats> read_resctrl(const Container& container) {
  const bundle::ContainerRecord& record = container.record();
  if (!record.resctrl) return std::nullopt;
  const auto config = container.config();
  const auto root = linux::find_resctrl();
  if (!config || !root) return std::nullopt;
  const auto& rdt = config->intel_rdt;
  const auto stats =
      linux::read_resctrl_stats(*root, rdt && rdt->clos_id ? *rdt->clos_id : record.id,
                                record.resctrl->monitor_path.empty() ? "" : record.id);
  return stats ? std::optional(*stats) : std::nullopt;
}

timespec until(Clock::time_point deadline) {
  const auto left = std::max(deadline - Clock::now(), Clock::duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  return {.tv_sec = seconds.count(), .tv_nsec = static_cast<long>((left - seconds).count())};
}

}  // namespace

Result<bundle::ContainerStats> read_container_stats(const Container& container) {
  bundle::ContainerStats stats;
  if (container.record().cgroup_manager != CgroupManager::kDisabled) {
    OCIRUN_TRY_ASSIGN(const auto cgroup, container.cgroup());
    OCIRUN_TRY_ASSIGN(stats.cgroup, cgroup->stats());
  }
  stats.resctrl = read_resctrl(container);
  if (auto interfaces = linux::read_interface_stats(container.init().pid))
    stats.interfaces = std::move(*interfaces);
  return stats;
}

Result<void> follow_container(const Container& container, std::chrono::nanoseconds interval,
                              const Log& log, const Print& print) {
  const auto end = linux::ProcessEnd::watch(container.init());
  if (!end && end.error().number() == ESRCH) return refuse("container is not running");
  if (!end) return std::unexpected(end.error());
  OCIRUN_TRY_ASSIGN(const auto cgroup, container.cgroup());
  auto oom = cgroup->watch_oom();
  if (!oom) log.warn("out-of-memory events cannot be told: " + oom.error().message());
  const std::string& id = container.record().id;
  std::array<pollfd, 2> watched{end->wanted(), pollfd{-1, 0, 0}};
  if (oom) watched[1] = {oom->fd().value, oom->poll_events(), 0};

  Clock::time_point next = Clock::now();
  for (;;) {
    const timespec wait = until(std::min(next, Clock::now() + end->poll_limit()));
    const int ready = ::ppoll(watched.data(), watched.size(), &wait, nullptr);
    if (ready < 0 && errno != EINTR) return fail(errno, "wait for events");
    const bool gone = end->has_come();
    // The event is reported after the end of init too, because the OOM killer may have ended init.
    if (oom && oom->happened()) OCIRUN_TRY(print(bundle::oom_event(id)));
    if (gone) return {};
    if (Clock::now() < next) continue;
    const auto stats = read_container_stats(container);
    if (!stats) return {};  // the cgroup was removed before init was seen to end
    OCIRUN_TRY(print(bundle::stats_event(id, *stats)));
    next = std::max(next + interval, Clock::now());  // skips stats that were due during a pause
  }
}

}  // namespace ocirun::runtime
