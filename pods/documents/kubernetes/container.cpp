#include "pods/documents/kubernetes/container_fields.hpp"

#include <algorithm>
#include <set>

#include "pods/documents/kubernetes/names.hpp"
#include "pods/documents/kubernetes/unsupported.hpp"
#include "pods/documents/kubernetes/workload.hpp"

namespace ocirun::pods {
namespace {

bool port_name(Value at, std::string& out) {
  if (!string(at, out)) return false;
  if (is_port_name(out)) return true;
  at.problem("must be at most 15 lower-case letters, digits and \"-\", with a letter, not {}",
             found(at));
  return false;
}

/// read_host_ports() takes the port of the host into the pod.
constexpr auto kPort = placed(exact_fields<Port>(
    field("name", &Port::name, port_name), required("containerPort", &Port::number, port_number),
    field("protocol", &Port::protocol, protocol),
    part("hostPort",
         [](Value at, Port&) {
           std::uint16_t number = 0;
           return port_number(at, number);
         }),
    part_unless_empty<std::string>("hostIP", [](Value at, Port&) {
      std::string address;
      if (!nonempty_string(at, address)) return false;
      if (is_ip_address(address)) return true;
      at.problem("must be an address of IPv4 or IPv6, not {}", found(at));
      return false;
    })));

constexpr auto ports = unique_list_of(kPort, by("name", &Port::name));

/// A probe whose failure ends the container.
bool ending_probe(Value at, Probe& out) {
  if (!kubernetes_probe(at, out)) return false;
  if (out.success_threshold == 1) return true;
  at.problem_at("successThreshold", "must be 1 for a probe whose failure ends the container");
  return false;
}

constexpr auto kContainer =
    container_fields(required("name", &Container::name, dns_label),
                     field("env", &Container::env,
                           [](Value at, std::vector<EnvVariable>& out) {
                             return container_env(at, out, Dialect::kKubernetes);
                           }),
                     field("ports", &Container::ports, ports),
                     field("livenessProbe", &Container::liveness, ending_probe),
                     field("readinessProbe", &Container::readiness, kubernetes_readiness_probe),
                     field("startupProbe", &Container::startup, ending_probe),
                     field("resources", &Container::resources, kubernetes_resources),
                     part("securityContext", container_security));

/// Whether the member makes an init container a sidecar, for whose end the pod must not wait.
bool is_of_sidecar(Value member) {
  const bundle::Node* list = member.node().parent->parent;
  return member.key() == "restartPolicy" && member.node().is_string() &&
         member.node().text == "Always" && list != nullptr && list->key == "initContainers";
}

}  // namespace

bool refuse_other_container_member(Value member) {
  if (is_of_sidecar(member)) {
    ignore(member.report().ignores(member.key()));  // counts as used; refused all the same
    refuse_always(member,
                  "\"Always\" makes the init container a sidecar, which runs beside the others: "
                  "move it to containers");
    return true;
  }
  return refuse_if_listed(member, unsupported_of(PartOfPod::kContainer));
}

bool pod_containers(Value at, std::vector<Container>& out, bool (*reader)(Value, Container&),
                    std::string_view prefix) {
  const auto container = [reader](Value item, Container& read) {
    read.place = &item.node();
    const bool good = reader(item, read);
    resolve_port_names(item, read);
    return good;
  };
  if (!are_few_containers(at) || !list_of(container)(at, out)) return false;
  std::size_t index = 0;
  for (Container& read : out) {  // the names that a cluster gives
    if (read.name.empty())
      read.name = index == 0 ? std::string(prefix) : fmt::format("{}-{}", prefix, index);
    ++index;
  }
  report_twice(at, out, by("name", &Container::name));
  return true;
}

bool kubernetes_container(Value at, Container& out) { return kContainer(at, out); }

void check_init_containers(Value at, const Pod& pod) {
  std::set<std::string_view> names;
  for (const Container& container : pod.containers) names.insert(container.name);
  for (const Container& init : pod.init_containers) {
    const Value place(*init.place, at.report());
    if (text_of_member(*init.place, "restartPolicy") == "Always") continue;  // a sidecar
    for (const std::string_view name : {"livenessProbe", "readinessProbe", "startupProbe", "ports"})
      if (place.member(name))
        place.problem_at(name, "an init container has no probes and no ports");
    if (names.contains(init.name))
      place.problem_at("name", "\"{}\" is the name of a container too", init.name);
  }
}

void check_mounts(Value at, const Pod& pod) {
  std::set<std::string_view> names;
  for (const Volume& volume : pod.volumes) names.insert(volume.name);
  for (const Container* container : all_containers(pod))
    for (const Mount& mount : container->mounts)
      if (!names.contains(mount.volume))
        Value(*mount.place, at.report())
            .problem_at("name", "\"{}\" is none of the volumes", mount.volume);
}

bool pod_pull_secrets(Value at, Pod& out) {
  static constexpr auto kReference =
      exact_fields<PullSecret>(required("name", &PullSecret::name, dns_name));
  std::vector<PullSecret> secrets;
  if (!list_of(kReference)(at, secrets)) return false;
  if (secrets.size() > 1) {
    at.problem("must have one secret at most, not {}", secrets.size());
    return false;
  }
  if (secrets.empty()) return true;
  out.pull_secret = std::move(secrets.front());
  out.pull_secret->place = &at.node();
  return true;
}

}  // namespace ocirun::pods
