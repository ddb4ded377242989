#include "pods/radius/scaling.hpp"

#include <array>

#include "pods/model/scalars.hpp"

namespace ocirun::pods {
namespace {

constexpr auto kCount = bundle::range(1, 2'147'483'647);

struct Target {
  std::optional<std::uint32_t> utilization, average, value;
};
struct Metric {
  std::string kind, custom;
  Target target;
};
struct Scaling {
  std::optional<std::uint32_t> most;
  std::vector<Metric> metrics;
};

constexpr auto kTarget = exact_fields<Target>(
    field("averageUtilization", &Target::utilization, kCount),
    field("averageValue", &Target::average, kCount), field("value", &Target::value, kCount));

bool metric_kind(Value at, std::string& out) {
  static constexpr std::array<std::string_view, 3> kKinds = {"cpu", "memory", "custom"};
  if (!string(at, out)) return false;
  if (std::ranges::find(kKinds, out) != kKinds.end()) return true;
  bundle::unknown_word(at, "kind of metric", kKinds);
  return false;
}

bool target(Value at, Target& out) {
  if (!kTarget(at, out)) return false;
  const int given = (out.utilization ? 1 : 0) + (out.average ? 1 : 0) + (out.value ? 1 : 0);
  if (given == 1) return true;
  at.problem("must have exactly one of averageUtilization, averageValue and value, not {}", given);
  return false;
}

constexpr auto kMetric = bundle::checked(
    exact_fields<Metric>(required("kind", &Metric::kind, metric_kind),
                         field("customMetric", &Metric::custom, nonempty_string),
                         required("target", &Metric::target, target)),
    [](Value at, const Metric& metric) {
      const bool custom = metric.kind == "custom";
      if (!custom && !metric.custom.empty())
        at.problem_at("customMetric", "is only for the kind custom");
      if (custom && metric.target.utilization)
        at.problem_at("target", "averageUtilization is only for the kinds cpu and memory");
    });

/// The note has one metric, the published type a list of them.
constexpr auto kScaling = exact_fields<Scaling>(
    field("maxReplicas", &Scaling::most, kCount),
    part("metric", [](Value at, Scaling& out) { return kMetric(at, out.metrics.emplace_back()); }),
    field("metrics", &Scaling::metrics, list_of(kMetric)));

struct ManualScaling {
  std::uint32_t replicas = 1;
};

void refuse_replicas(Value at, std::uint32_t count, Pod& out) {
  if (count == 1) return;
  out.elsewhere.push_back(
      {fmt::format("{} replicas need several machines: one machine runs 1", count), &at.node()});
}

bool manual_kind(Value at, ManualScaling& /*out*/) {
  std::string word;
  if (!string(at, word)) return false;
  if (word == "manualScaling") return true;
  at.problem("must be manualScaling, not {}", found(at));
  return false;
}

bool manual_scaling(Value at, Pod& out) {
  static constexpr auto kManual = exact_fields<ManualScaling>(
      required("replicas", &ManualScaling::replicas, kCount), part("kind", manual_kind));
  ManualScaling scaling;
  if (!kManual(at, scaling)) return false;
  refuse_replicas(*at.member("replicas"), scaling.replicas, out);
  return true;
}

bool extension(Value at, std::string_view kind, Pod& out) {
  if (kind == "manualScaling") return manual_scaling(at, out);
  if (kind == "daprSidecar") {
    return refuse_known(at, kind, "no Dapr runs beside the containers");
  }
  if (kind == "kubernetesMetadata")
    at.problem(
        "was removed from the resource type: a recipe of the platform sets labels and annotations");
  else
    at.problem("unknown extension (known: manualScaling, daprSidecar)");
  return false;
}

}  // namespace

bool auto_scaling(Value at, Pod& out) {
  Scaling scaling;
  if (!kScaling(at, scaling)) return false;
  if (at.member("metric").has_value() == at.member("metrics").has_value()) {
    at.problem("must have exactly one of metric and metrics");
    return false;
  }
  out.elsewhere.push_back(
      {"automatic scaling needs several machines: one machine runs 1 replica", &at.node()});
  return true;
}

bool replicas(Value at, Pod& out) {
  std::uint32_t count = 1;
  if (!kCount(at, count)) return false;
  refuse_replicas(at, count, out);
  return true;
}

bool extensions(Value at, Pod& out) {
  bool good = true;
  if (at.node().is_array()) {  // [{"kind": "manualScaling", "replicas": 2}]
    for (const Value item : at) {
      const auto kind = item.member("kind");
      std::string word;
      if (!kind) {
        item.problem_at("kind", "is missing, it is required");
        good = false;
      } else {
        good &= string(*kind, word) && extension(item, word, out);
      }
    }
    return good;
  }
  if (!at.expect_object()) return false;
  for (const Value member : at) good &= extension(member, member.key(), out);
  return good;
}

}  // namespace ocirun::pods
