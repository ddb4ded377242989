#include "pods/radius/resource.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"
#include "pods/model/kept.hpp"
#include "pods/model/scalars.hpp"

namespace ocirun::pods {
namespace {

// What a Radius document says about the number of instances. Each value is checked; what only
// several machines can give goes to Pod::elsewhere.

constexpr auto kCount = bundle::range(1, 2'147'483'647);

constexpr auto kTarget =
    exact_fields<ScalingTarget>(field("averageUtilization", &ScalingTarget::utilization, kCount),
                                field("averageValue", &ScalingTarget::average, kCount),
                                field("value", &ScalingTarget::value, kCount));

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
    field("maxReplicas", &Scaling::most, kCount),
    part("metric", [](Value at, Scaling& out) { return kMetric(at, out.metrics.emplace_back()); }),
    field("metrics", &Scaling::metrics, list_of(kMetric))));

struct ManualScaling {
  std::uint32_t replicas = 1;
};

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
  ask_for_replicas(*at.member("replicas"), scaling.replicas, out);
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

/// properties.autoScaling (RX-14)
bool auto_scaling(Value at, Pod& out) {
  Scaling& scaling = out.scaling.emplace();
  if (!kScaling(at, scaling)) return false;
  if (!has_exactly_one_of(at, "metric", "metrics")) return false;
  out.elsewhere.push_back(
      {"automatic scaling needs several machines: one machine runs 1 replica", &at.node()});
  return true;
}

/// properties.replicas (RX-15)
bool replicas(Value at, Pod& out) {
  std::uint32_t count = 1;
  if (!kCount(at, count)) return false;
  ask_for_replicas(at, count, out);
  return true;
}

/// properties.extensions, an object or a list: manualScaling (RX-15); kubernetesMetadata was
/// removed (RX-18).
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

/// RX-16
bool connections(Value at, std::vector<Connection>& out) {
  static constexpr auto kConnection =
      exact_fields<Connection>(required("source", &Connection::source, nonempty_string),
                               part("disableDefaultEnvVars",
                                    [](Value flag, Connection& item) {
                                      bool disabled = false;
                                      if (!boolean(flag, disabled)) return false;
                                      item.sets_variables = !disabled;
                                      return true;
                                    }),
                               removed("iam", "", "a recipe of the platform may grant access"));
  return named_items(at, out, [](Value member, Connection& item) {
    if (!kConnection(member, item)) return false;
    if (!item.sets_variables)
      member.warning(
          "the connection has no effect: disableDefaultEnvVars leaves out its variables, and there "
          "is nothing else that it gives");
    return true;
  });
}

constexpr std::string_view kNoRadius = "no Radius stands behind this command";

constexpr auto kProperties = exact_fields<Pod>(
    no_effect("environment", kNoRadius), no_effect("application", kNoRadius),
    no_effect("host", kNoRadius), no_effect("hosts", kNoRadius),
    required_part("containers", radius_containers), part("initContainers", radius_init_containers),
    field("volumes", &Pod::volumes, radius_volumes),
    field("connections", &Pod::connections, connections),
    field("restartPolicy", &Pod::restart, restart_rule), part("autoScaling", auto_scaling),
    part("replicas", replicas), part("extensions", extensions),
    no_effect("platformOptions", "no recipe of a platform reads it"),
    removed("container", "containers",
            "write it as a member of containers, which is an object of containers now"));

/// Names that dots separate.
bool resource_name(Value at, std::string& out) {
  if (!string(at, out)) return false;
  if (out.size() <= 253 && std::ranges::all_of(linux::split(out, '.'), is_radius_name)) return true;
  at.problem(
      "must be letters, digits and \"-\" with a letter or digit at both ends, at most 63 of them "
      "between dots, not {}",
      found(at));
  return false;
}

/// The members that every resource has.
constexpr auto kResource = exact_fields<Pod>(
    required("name", &Pod::name, resource_name), required_part("properties", kProperties),
    part("type",
         [](Value at, Pod& /*out*/) {
           std::string type;
           if (!string(at, type)) return false;
           if (type.substr(0, type.find('@')).ends_with("/containers")) return true;
           at.problem("must be a type of containers, such as Radius.Compute/containers, not {}",
                      found(at));
           return false;
         }),
    no_effect("id", kNoRadius), no_effect("location", kNoRadius),
    no_effect("apiVersion", kNoRadius), no_effect("systemData", kNoRadius),
    part("tags", [](Value at, Pod& out) { return string_map(at, out.annotations); }));

/// A mount needs its volume.
void check_mounts(Value properties, const Pod& pod) {
  const auto volumes = properties.member("volumes");
  for (const Container* container : all_containers(pod))
    for (const Mount& mount : container->mounts) {
      if (mount.volume.empty() || may_have(volumes, mount.volume)) continue;
      Value(*mount.place, properties.report())
          .problem_at("volumeName", "\"{}\" is none of the volumes", mount.volume);
    }
}

/// A name belongs to one container, and one of the containers at least is no init container.
void check_containers(Value properties, const Pod& pod) {
  const auto containers = properties.member("containers");
  if (containers && containers->node().is_object() && pod.containers.empty())
    containers->problem(
        "must have at least one container{}",
        containers->begin() == containers->end() ? "" : " that is no init container");
  std::set<std::string_view> names;
  for (const Container& container : pod.containers) names.insert(container.name);
  for (const Container& init : pod.init_containers)
    if (!names.insert(init.name).second)
      Value(*init.place, properties.report())
          .problem("is the name of a container too: names must be unique among all containers");
}

}  // namespace

void read_radius(Value at, Pod& out) {
  out.kind = Kind::kRadius;
  out.restart = Restart::kAlways;
  kResource(at, out);
  const auto properties = at.member("properties");
  if (!properties || !properties->node().is_object()) return;
  check_mounts(*properties, out);
  check_containers(*properties, out);
}

}  // namespace ocirun::pods
