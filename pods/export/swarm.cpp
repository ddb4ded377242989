#include "pods/export/swarm.hpp"

#include <algorithm>

#include "linux/base/letters.hpp"
#include "linux/process/exec_limits.hpp"
#include "pods/prepare/plan/variables.hpp"

namespace ocirun::pods {
namespace {

/// Whether the text can be the name of a service: letters, digits, and "-" or "_" between them.
bool is_service_name(std::string_view text, std::size_t longest) {
  return !text.empty() && text.size() <= longest && linux::is_alphanumeric(text.front()) &&
         linux::is_alphanumeric(text.back()) && std::ranges::all_of(text, [&](char c) {
           return linux::is_alphanumeric(c) || c == '-' || c == '_';
         });
}

/// The container's name. If Swarm refuses the name, or an earlier service has it, a similar name.
std::string service_name(Translation& translation, const Container& container,
                         const YamlPart& services) {
  constexpr std::size_t kLongest = 63;  // of "STACK_SERVICE"
  const std::size_t longest = kLongest - 1 - translation.request().name.size();
  const bool is_good = is_service_name(container.name, longest);
  if (is_good && !services.has(container.name)) return container.name;
  if (!is_good)
    translation.lose(container.place, "name",
                     "the name of a service must be at most {} letters, digits, \"-\" and \"_\", "
                     "not \"{}\"",
                     longest, container.name);
  std::set<std::string> used;
  for (const bundle::Node* service = services.node()->first; service != nullptr;
       service = service->next)
    used.emplace(service->key);
  return unique_name(as_dns_label(std::string_view(container.name).substr(0, longest)), used);
}

/// Loses what the containers share and the order in which they start: Swarm has no pods.
void lose_pod(Translation& translation) {
  const Pod& pod = translation.pod();
  for (const Container& container : pod.init_containers)
    translation.lose(container.place, "",
                     "\"{}\" runs before the other containers: a stack has no such order, and the "
                     "container is left out",
                     container.name);
  if (pod.containers.size() > 1)
    translation.lose(
        pod.containers[1].place, "",
        "the {} containers of the pod share localhost, and start, stop and move together: as "
        "services of a stack they reach each other by the names of the services, and may run on "
        "several nodes",
        pod.containers.size());
  for (const Container& container : pod.containers)
    if (!container.starts_after.empty())
      translation.lose(container.place, "", "starts after \"{}\": a stack has no order of start",
                       container.starts_after.front());
  if (pod.shares_pids && pod.containers.size() > 1)
    translation.lose(pod.containers[1].place, "", "services of a stack do not share processes");
  lose_pod_limits(translation);
}

constexpr std::string_view kNoScaling =
    "Swarm does not scale automatically: `docker service scale` does by hand";

constexpr std::string_view kHostname = "hostname";  // the same for the pod and for a service

/// Loses what a workload of Kubernetes asks of its cluster.
void lose_cluster_members(Translation& translation) {
  const Pod& pod = translation.pod();
  for (const std::vector<Place>* places : {&pod.kubernetes->of_pod, &pod.kubernetes->of_controller})
    for (const Place place : *places)
      if (place->key != kHostname && !pod.kubernetes->asking_nothing.contains(place))
        translation.lose(place, "", "only a cluster of Kubernetes honours this");
  const Place spec = container_list_owner(pod.containers.front());
  if (pod.host_network)
    translation.lose(spec, "hostNetwork", "a stack has no service in the network of its nodes");
  if (pod.volume_group)
    translation.lose(spec, "securityContext/fsGroup",
                     "Docker changes no owner of the files of a volume");
}

/// Loses scaling, and the traffic and the instances of Knative.
void lose_scaling_and_traffic(Translation& translation) {
  const Pod& pod = translation.pod();
  if (pod.kubernetes) lose_cluster_members(translation);
  lose_other_replicas(translation);
  for (const Elsewhere& part : pod.elsewhere) {
    const bool is_replicas =
        pod.replicas && (part.place == pod.replicas->place || part.place == pod.replicas->differs);
    const bool is_scaling = pod.scaling && part.place == pod.scaling->place;
    const bool is_of_knative = part.place->key.starts_with("autoscaling.knative.dev/");
    if (part.is_copied)
      translation.lose(part.place, "", "only a cluster of Kubernetes honours this");
    else if (is_of_knative || is_scaling)
      translation.lose(part.place, "", "{}", kNoScaling);
    else if (part.can_be_ignored && !is_replicas)  // otherwise the Pod has it, as SCTP
      translation.lose(part.place, "", "{}, which Swarm does not have", part.sentence);
  }
}

/// The host name that a document of Kubernetes asks for; "": the engine's default.
std::string_view host_name_of(const Pod& pod) {
  if (!pod.kubernetes) return "";
  const std::vector<Place>& members = pod.kubernetes->of_pod;
  const auto found =
      std::ranges::find_if(members, [](Place member) { return member->key == kHostname; });
  return found == members.end() ? "" : (*found)->text;
}

void expect_credentials(Translation& translation, const Container& container) {
  const PullSecret* secret = pull_secret_of(translation.pod(), container);
  if (secret == nullptr) return;
  translation.expect(fmt::format(
      "the credentials of \"{}\" for the registry (docker login, and docker stack deploy "
      "--with-registry-auth)",
      secret->name));
}

Result<std::vector<std::string>> expanded_words(const Translation& translation,
                                                const std::vector<std::string>& words,
                                                const Variables& named) {
  std::vector<std::string> out = words;
  if (has_references(translation.pod()))
    for (std::string& word : out) {
      OCIRUN_TRY_ASSIGN(word, expand(word, named, linux::ExecLimits::here().string));
    }
  return out;
}

/// The labels of a container: those of the pod, unless the service has them, and its own.
Metadata metadata_of_container(const Pod& pod, const Container& container) {
  Metadata out;
  if (pod.controller_metadata) out = pod.metadata;
  for (const auto& [name, value] : container.annotations) out.annotations[name] = value;
  return out;
}

Result<void> add_swarm_service(SwarmStack& stack, const Container& container, YamlPart& services) {
  Translation& translation = stack.translation;
  const std::string name = service_name(translation, container, services);
  YamlPart service = translation.new_object();
  service.add("image", exported_image(translation, container));
  expect_credentials(translation, container);
  if (container.pull_policy == PullPolicy::kNever)
    translation.lose(container.place, "imagePullPolicy",
                     "a node that lacks the image fetches it from its registry");
  OCIRUN_TRY_ASSIGN(const SwarmVariables variables, swarm_variables(translation, container));
  if (container.command && !container.command->empty()) {
    OCIRUN_TRY_ASSIGN(const auto words,
                      expanded_words(translation, *container.command, variables.named));
    service.add("entrypoint", words);
  }
  if (container.args && !container.args->empty()) {
    OCIRUN_TRY_ASSIGN(const auto words,
                      expanded_words(translation, *container.args, variables.named));
    service.add("command", words);
  }
  service.add_unless_empty("environment", variables.environment);
  service.add_unless_empty("working_dir", container.working_directory);
  service.add_unless_empty(kHostname, host_name_of(translation.pod()));
  add_swarm_security(translation, container, service);
  service.add_unless_empty("ports", swarm_ports(stack, container));
  OCIRUN_TRY(add_swarm_mounts(stack, container, service));
  add_swarm_health_check(translation, container, service);
  service.add("stop_grace_period", fmt::format("{}s", grace_of(translation.pod()).count()));
  service.add_unless_empty(
      "labels", swarm_labels(translation, metadata_of_container(translation.pod(), container)));
  service.add_unless_empty("deploy", swarm_deploy(stack, container, service));
  services.add(name, service);
  return {};
}

/// Names the persistent volumes. Tells of volumes that nothing mounts.
void name_volumes(SwarmStack& stack) {
  std::set<std::string> used;
  const std::vector<Container>& containers = stack.translation.pod().containers;
  for (const Volume& volume : exported_volumes(stack.translation.pod())) {
    if (volume.kind == Volume::Source::kOperator)
      stack.volume_names[volume.name] = unique_name(as_dns_label(volume.name), used);
    if (std::ranges::none_of(containers, [&](const Container& container) {
          return uses_volume(container, volume.name);
        }))
      stack.translation.note(
          fmt::format("the volume \"{}\" is left out: no service mounts it", volume.name));
  }
}

/// The name of the stack becomes a part of the names of its services, volumes and labels.
Result<void> check_stack_name(const std::string& name) {
  constexpr std::size_t kLongest = 40;
  if (is_service_name(name, kLongest)) return {};
  const std::string near = as_dns_label(name).substr(0, kLongest);
  return refuse(
      "the name \"{}\": must be at most {} letters, digits, \"-\" and \"_\", with a letter or a "
      "digit at both ends (--name {})",
      name, kLongest, near.empty() ? "POD" : near);
}

bool has_ports(const Pod& pod) {
  return std::ranges::any_of(pod.containers,
                             [](const Container& container) { return !container.ports.empty(); });
}

/// Compose replaces "$NAME" in every value, and "$$" by "$".
std::string double_dollars(std::string_view text) {
  std::string out;
  for (const char c : text) out.append(c == '$' ? 2 : 1, c);
  return out;
}

}  // namespace

Result<Exported> export_to_swarm(const ExportRequest& request) {
  if (request.endpoint_mode == EndpointMode::kDnsrr && request.port_mode == PortMode::kIngress &&
      has_ports(request.completed.pod()))
    return refuse(
        "--endpoint-mode dnsrr: needs --port-mode host, because a port of all nodes leads to the "
        "one address of a service");
  OCIRUN_TRY(check_stack_name(request.name));
  Translation translation(request);
  translation.introduce(fmt::format("{} --compose-file FILE {}", kDeployCommand, request.name));
  lose_pod(translation);
  lose_scaling_and_traffic(translation);
  SwarmStack stack(translation);
  name_volumes(stack);
  YamlPart out = translation.new_object();
  out.add("version", "3.8");
  YamlPart services = out.new_object();
  for (const Container& container : translation.pod().containers)
    OCIRUN_TRY(add_swarm_service(stack, container, services));
  out.add("services", services);
  out.add_unless_empty("volumes", stack.volumes);
  out.add_unless_empty("configs", stack.configs);
  out.add_unless_empty("secrets", stack.secrets);
  out.change_texts(double_dollars);
  translation.add_document(out);
  OCIRUN_TRY_ASSIGN(Exported exported, translation.finish());
  exported.files = std::move(stack.files);
  return exported;
}

}  // namespace ocirun::pods
