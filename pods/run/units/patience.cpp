#include "pods/run/units/patience.hpp"

#include <algorithm>

namespace ocirun::pods {
namespace {

using std::chrono::seconds;

constexpr seconds kPreparation{300};
constexpr seconds kLongest{366L * 24 * 3600};  // the limit of options with seconds

/// The longest time from the first question of the probe until the probe has failed for good.
seconds time_of(const std::optional<Probe>& probe) {
  if (!probe) return seconds(0);
  const seconds each = std::max(probe->period, probe->timeout);
  const auto failures = std::min<std::int64_t>(probe->failure_threshold, kLongest.count());
  return std::min(probe->initial_delay, kLongest) + std::min(each, kLongest) * failures;
}

bool waits(const Pod& pod) {
  return std::ranges::any_of(
      pod.containers, [](const Container& container) { return !container.starts_after.empty(); });
}

}  // namespace

std::optional<seconds> ready_time(const Pod& pod, seconds least) {
  const bool adds_up = waits(pod);
  bool is_asked = false;
  seconds all{0};
  for (const Container& container : pod.containers) {
    is_asked = is_asked || container.startup || container.readiness;
    const seconds own = time_of(container.startup) + time_of(container.readiness);
    all = std::min(adds_up ? all + own : std::max(all, own), kLongest);
  }
  if (!is_asked) return std::nullopt;
  return std::max(all, least);
}

std::optional<seconds> start_limit(const Pod& pod, std::optional<seconds> ready_within) {
  if (!pod.init_containers.empty() || (waits(pod) && !ready_within)) return std::nullopt;
  return kPreparation + ready_within.value_or(seconds(0));
}

}  // namespace ocirun::pods
