#include "pods/radius/resource.hpp"

#include <algorithm>
#include <set>

#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"
#include "pods/radius/scaling.hpp"

namespace ocirun::pods {
namespace {

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

constexpr linux::Named<Restart> kRestartRules[] = {
    {"Always", Restart::kAlways}, {"OnFailure", Restart::kOnFailure}, {"Never", Restart::kNever}};
constexpr auto restart_rule = bundle::word(
    "rule of restart", [](std::string_view word) { return linux::value_of(kRestartRules, word); },
    [] { return linux::names_of(kRestartRules); });

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
