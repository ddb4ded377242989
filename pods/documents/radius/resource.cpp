#include "pods/documents/radius/resource.hpp"

#include <algorithm>
#include <set>

#include "linux/base/text.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {
namespace {

constexpr auto kProperties = properties_fields<Edition::kCompute>(
    no_effect("host", kNoRadius), no_effect("hosts", kNoRadius),
    required_part("containers", radius_containers), part("initContainers", radius_init_containers),
    field("volumes", &Pod::volumes, radius_volumes), part("autoScaling", radius_auto_scaling),
    part("replicas", radius_replicas),
    no_effect("platformOptions", "no recipe of a platform reads it"),
    removed("container", "containers",
            "write it as a member of containers, which is an object of containers now"));

/// A mount needs its volume.
void check_mounts(Value properties, const Pod& pod) {
  const NamesOf volumes(properties.member("volumes"));
  for (const Container* container : all_containers(pod))
    for (const Mount& mount : container->mounts) {
      if (mount.volume.empty() || volumes.may_have(mount.volume)) continue;
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

bool compute_properties(Value at, Pod& out) {
  const bool good = kProperties(at, out);
  if (!at.node().is_object()) return false;
  check_mounts(at, out);
  check_containers(at, out);
  return good;
}

/// The edition of a resource is that of its type, and without a type that of its member. The design
/// note has `containers` in Applications.Core/containers.
Edition edition_of(Value properties) {
  const std::string_view type = text_of_member(*properties.node().parent, "type");
  if (properties.member("containers") || type.starts_with("Radius.")) return Edition::kCompute;
  const bool is_core = properties.member("container") || type.starts_with("Applications.Core/");
  return is_core ? Edition::kCore : Edition::kCompute;
}

bool properties(Value at, Pod& out) {
  return edition_of(at) == Edition::kCore ? core_properties(at, out) : compute_properties(at, out);
}

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
    required("name", &Pod::name, resource_name), required_part("properties", properties),
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
    part("tags", keep_tags));

}  // namespace

void read_radius(Value at, Pod& out) {
  out.kind = Kind::kRadius;
  out.restart = Restart::kAlways;
  kResource(at, out);
}

}  // namespace ocirun::pods
