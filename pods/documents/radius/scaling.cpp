// What a Radius document says about the number of instances. Each value is checked; what only
// several machines can give goes to Pod::elsewhere.

#include <algorithm>
#include <array>

#include "pods/documents/model/kept.hpp"
#include "pods/documents/radius/resource.hpp"

namespace ocirun::pods {
namespace {

constexpr auto kTarget = exact_fields<ScalingTarget>(
    field("averageUtilization", &ScalingTarget::utilization, kInstances),
    field("averageValue", &ScalingTarget::average, kInstances),
    field("value", &ScalingTarget::value, kInstances));

bool metric_kind(Value at, std::string& out) {
  static constexpr std::array<std::string_view, 3> kKinds = {"cpu", "memory", "custom"};
  if (!string(at, out)) return false;
  if (std::ranges::find(kKinds, out) != kKinds.end()) return true;
  bundle::unknown_word(at, "kind of metric", kKinds);
  return false;
}

bool target(Value at, ScalingTarget& out) {
  if (!kTarget(at, out)) return false;
  const int given = (out.utilization ? 1 : 0) + (out.average ? 1 : 0) + (out.value ? 1 : 0);
  if (given == 1) return true;
  at.problem("must have exactly one of averageUtilization, averageValue and value, not {}", given);
  return false;
}

constexpr auto kMetric = bundle::checked(
    placed(
        exact_fields<ScalingMetric>(required("kind", &ScalingMetric::kind, metric_kind),
                                    field("customMetric", &ScalingMetric::custom, nonempty_string),
                                    required("target", &ScalingMetric::target, target))),
    [](Value at, const ScalingMetric& metric) {
      const bool custom = metric.kind == "custom";
      if (!custom && !metric.custom.empty())
        at.problem_at("customMetric", "is only for the kind custom");
      if (custom && metric.target.utilization)
        at.problem_at("target", "averageUtilization is only for the kinds cpu and memory");
    });

/// The note has one metric, the published type a list of them.
constexpr auto kScaling = placed(exact_fields<Scaling>(
    field("maxReplicas", &Scaling::most, kInstances),
    part("metric", [](Value at, Scaling& out) { return kMetric(at, out.metrics.emplace_back()); }),
    field("metrics", &Scaling::metrics, list_of(kMetric))));

}  // namespace

bool radius_auto_scaling(Value at, Pod& out) {
  Scaling& scaling = out.scaling.emplace();
  if (!kScaling(at, scaling)) return false;
  if (!has_exactly_one_of(at, "metric", "metrics")) return false;
  out.elsewhere.push_back(
      {"automatic scaling needs several machines: one machine runs 1 replica", &at.node()});
  return true;
}

bool radius_replicas(Value at, Pod& out) {
  std::uint32_t count = 1;
  if (!kInstances(at, count)) return false;
  ask_for_replicas(at, count, out);
  return true;
}

}  // namespace ocirun::pods
