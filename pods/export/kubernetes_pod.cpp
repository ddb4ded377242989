#include <algorithm>
#include <set>

#include "pods/export/kubernetes.hpp"

namespace ocirun::pods {
namespace {

void add_pull_secrets(Translation& translation, YamlPart& spec) {
  std::set<std::string> names;
  for (const Container* container : all_containers(translation.pod()))
    if (const PullSecret* const secret = pull_secret_of(translation.pod(), *container))
      names.insert(kubernetes_secret_name(translation, secret->place, secret->name));
  if (names.empty()) return;
  YamlPart list = spec.add_list("imagePullSecrets");
  for (const std::string& name : names) list.add_object().add("name", name);
}

/// Adds the additional groups, which are those of the whole pod.
void add_extra_groups(Translation& translation, YamlPart& context) {
  const auto containers = all_containers(translation.pod());
  const std::vector<Gid>& groups = containers.front()->extra_groups;
  for (const Container* container : containers)
    if (container->extra_groups != groups)
      return translation.lose(container->place, "app/supplementaryGIDs",
                              "additional groups are those of all containers of a pod");
  const std::optional<Gid>& of_volumes = translation.pod().volume_group;
  YamlPart list = context.new_list();
  for (const Gid gid : groups)
    if (gid != of_volumes) list.add("", gid.value());
  context.add_unless_empty("supplementalGroups", list);
  if (of_volumes) context.add("fsGroup", of_volumes->value());
}

/// Copies what only a cluster honours of a pod of Kubernetes.
void copy_members_for_cluster(Translation& translation, YamlPart& spec) {
  if (!translation.pod().kubernetes) return;
  for (const Place member : translation.pod().kubernetes->of_pod)
    if (!spec.has(member->key)) spec.add(member->key, translation.copy_of(*member));
}

std::string_view restart_policy(Restart restart) {
  switch (restart) {
    case Restart::kNever:
      return "Never";
    case Restart::kOnFailure:
      return "OnFailure";
    case Restart::kAlways:
      break;
  }
  return "Always";
}

}  // namespace

YamlPart kubernetes_pod_spec(const KubernetesPod& pod) {
  Translation& translation = pod.translation;
  const Pod& source = translation.pod();
  YamlPart spec = translation.new_object();
  spec.add_unless_empty("runtimeClassName", translation.request().runtime_class);
  copy_members_for_cluster(translation, spec);
  if (source.restart != Restart::kAlways) spec.add("restartPolicy", restart_policy(source.restart));
  if (source.shares_pids) spec.add("shareProcessNamespace", true);
  if (source.host_network) spec.add("hostNetwork", true);
  if (source.grace)
    spec.add("terminationGracePeriodSeconds", static_cast<std::uint64_t>(source.grace->count()));
  YamlPart context = spec.new_object();
  add_extra_groups(translation, context);
  spec.add_unless_empty("securityContext", context);
  add_pull_secrets(translation, spec);
  lose_pod_limits(translation);
  if (!source.init_containers.empty()) {
    YamlPart list = spec.add_list("initContainers");
    for (const Container& container : source.init_containers)
      add_kubernetes_container(pod, container, list);
  }
  YamlPart list = spec.add_list("containers");
  for (const Container& container : source.containers)
    add_kubernetes_container(pod, container, list);
  spec.add_unless_empty("volumes", kubernetes_volumes(pod));
  if (source.kubernetes)
    translation.copy_parts(*container_list_owner(source.containers.front()), spec);
  return spec;
}

}  // namespace ocirun::pods
