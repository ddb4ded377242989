#include "pods/documents/kubernetes/pod_spec.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "pods/documents/kubernetes/unsupported.hpp"
#include "pods/documents/kubernetes/workload.hpp"
#include "pods/documents/model/platform.hpp"

namespace ocirun::pods {
namespace {

/// The table's row for a member that only a cluster honours: the member has no effect here, and
/// `pod export` copies it.
constexpr auto of_cluster(std::string_view key, std::string_view why) {
  return part(key, [why](Value at, Pod& out) {
    out.kubernetes->of_pod.push_back(&at.node());
    if (asks_for_nothing(at.node()))
      out.kubernetes->asking_nothing.insert(&at.node());
    else
      at.warning("has no effect: {}", why);
    return true;
  });
}

/// Refuses another architecture or system than that of this machine. Other labels have no effect.
bool node_selector(Value at, Pod& out) {
  std::map<std::string, std::string> labels;
  if (!string_map(at, labels)) return false;
  out.kubernetes->of_pod.push_back(&at.node());
  bool good = true;
  for (const Value member : at) {
    const bool is_arch = member.key() == "kubernetes.io/arch";
    const bool is_system = member.key() == "kubernetes.io/os";
    const std::string own = is_arch ? Platform::host().architecture : "linux";
    if ((!is_arch && !is_system) || member.node().text == own) continue;
    good &= refuse_known_name(member, fmt::format("this host is {}, not {}", own, found(member)));
  }
  if (labels.empty()) out.kubernetes->asking_nothing.insert(&at.node());
  if (good && !labels.empty()) at.warning("has no effect: one machine runs all pods");
  return good;
}

bool service_account(Value at, Pod& out) {
  if (!string(at, out.kubernetes->account)) return false;
  out.kubernetes->of_pod.push_back(&at.node());
  at.warning("has no effect: there is no cluster that the container could ask");
  return true;
}

bool dns_policy(Value at, Pod& out) {
  static constexpr std::array<std::string_view, 4> kPolicies = {"Default", "ClusterFirst",
                                                                "ClusterFirstWithHostNet", "None"};
  std::string word;
  if (!string(at, word)) return false;
  if (std::ranges::find(kPolicies, word) == kPolicies.end()) {
    bundle::unknown_word(at, "dnsPolicy", kPolicies);
    return false;
  }
  constexpr std::string_view kServers = "containers have the name servers of the host";
  if (word == "None") return refuse_known_name(at, kServers);
  out.kubernetes->of_pod.push_back(&at.node());
  if (word == "Default")
    out.kubernetes->asking_nothing.insert(&at.node());
  else
    at.warning("has no effect: {}", kServers);
  return true;
}

bool host_users(Value at, Pod& out) {
  bool shares_host_users = true;
  if (!boolean(at, shares_host_users)) return false;
  if (!shares_host_users) return refuse_known_name(at, "pods of root have the users of the host");
  out.kubernetes->of_pod.push_back(&at.node());
  out.kubernetes->asking_nothing.insert(&at.node());
  return true;
}

struct SystemName {
  std::string name;
};

bool operating_system(Value at, Pod& out) {
  static constexpr auto kTable =
      exact_fields<SystemName>(required("name", &SystemName::name, nonempty_string));
  SystemName system;
  if (!kTable(at, system)) return false;
  out.kubernetes->of_pod.push_back(&at.node());
  out.kubernetes->asking_nothing.insert(&at.node());
  return system.name == "linux" ||
         refuse_known(*at.member("name"), "os", "containers of another system do not run here");
}

/// The host name of a pod is the pod's name.
bool host_name(Value at, Pod& out) {
  std::string name;
  if (!dns_label(at, name)) return false;
  out.kubernetes->of_pod.push_back(&at.node());
  if (name == out.name || out.name.empty()) return true;
  out.kubernetes->of_pod.pop_back();
  return refuse_known_name(at, "the host name is the name of the pod");
}

constexpr std::string_view kOneMachine = "one machine runs all pods";

constexpr auto kPodSpec =
    exact_fields<Pod>(
        required("containers", &Pod::containers,
                 [](Value at, std::vector<Container>& out) {
                   return pod_containers(at, out, kubernetes_container, "");
                 }),
        field("initContainers", &Pod::init_containers,
              [](Value at, std::vector<Container>& out) {
                return pod_containers(at, out, kubernetes_container, "");
              }),
        field("volumes", &Pod::volumes,
              [](Value at, std::vector<Volume>& out) {
                return pod_volumes(at, out, Dialect::kKubernetes);
              }),
        part("imagePullSecrets", pod_pull_secrets),
        field("restartPolicy", &Pod::restart, restart_rule),
        field("terminationGracePeriodSeconds", &Pod::grace, seconds_from(0)),
        field("hostNetwork", &Pod::host_network, boolean),
        field("shareProcessNamespace", &Pod::shares_pids, boolean),
        part_unless_empty<std::string>("hostname", host_name),
        part("securityContext", any_value),  // for pod_security()
        part("os", operating_system), part("hostUsers", host_users),
        part("nodeSelector", node_selector),
        part_unless_empty<std::string>("serviceAccountName", service_account),
        part_unless_empty<std::string>("serviceAccount", service_account),
        part_unless_empty<std::string>("dnsPolicy", dns_policy),
        of_cluster("automountServiceAccountToken",
                   "there is no cluster that the container could ask"),
        of_cluster("enableServiceLinks", "there are no other Services"),
        of_cluster("affinity", kOneMachine), of_cluster("nodeName", kOneMachine),
        of_cluster("overhead", kOneMachine), of_cluster("preemptionPolicy", kOneMachine),
        of_cluster("priority", kOneMachine), of_cluster("priorityClassName", kOneMachine),
        of_cluster("readinessGates", "a pod is ready when its containers are"),
        of_cluster("runtimeClassName", "--runtime chooses the runtime"),
        of_cluster("schedulerName", kOneMachine), of_cluster("schedulingGates", kOneMachine),
        of_cluster("schedulingGroup", kOneMachine),
        of_cluster("subdomain", "--network NAME gives pods names for each other"),
        of_cluster("tolerations", kOneMachine),
        of_cluster("topologySpreadConstraints", kOneMachine))
        .beside(
            [](Value member) { return refuse_if_listed(member, unsupported_of(PartOfPod::kPod)); });

std::string address_in(const bundle::Node& port) {
  return std::string(text_of_member(port, "hostIP"));
}

}  // namespace

HostPorts::HostPorts(Pod& pod) : ports_(pod.host_ports) {
  for (std::size_t i = 0; i < ports_.size(); ++i) places_[key_of(ports_[i])].push_back(i);
}

void HostPorts::add(Value at, HostPort port) {
  constexpr std::size_t kMostAddresses = 64;  // each is compared with all others
  std::vector<std::size_t>& of_number = places_[key_of(port)];
  const auto same = std::ranges::find_if(of_number, [&](std::size_t index) {
    return addresses_overlap(ports_[index].address, port.address);
  });
  if (same != of_number.end()) {
    const HostPort& first = ports_[*same];
    const bool is_same = first.pod_port->number == port.pod_port->number &&
                         (first.is_of_service || first.address == port.address);
    if (!is_same)
      at.problem("the port {} of the host is given twice, first at {}", port.number,
                 bundle::pointer_to(*first.place));
  } else if (of_number.size() == kMostAddresses) {
    at.problem("the port {} of the host has more than {} addresses", port.number, kMostAddresses);
  } else {
    of_number.push_back(ports_.size());
    ports_.push_back(std::move(port));
  }
}

void read_host_ports(Value at, Pod& out) {
  HostPorts host_ports(out);
  for (const Container& container : out.containers)
    for (const Port& port : container.ports) {
      const Value place(*port.place, at.report());
      const auto number = place.member("hostPort");
      if (!number) {
        if (!address_in(*port.place).empty()) place.problem_at("hostIP", "needs a hostPort");
        continue;
      }
      std::uint16_t host_number = 0;
      port_number(*number, host_number);  // was read before, without a problem
      HostPort host{.name = port.name,
                    .number = host_number,
                    .address = address_in(*port.place),
                    .pod_port = port,
                    .place = port.place};
      if (out.host_network && host.number != port.number)
        number->problem("must be the containerPort {}, because of hostNetwork", port.number);
      host_ports.add(place, std::move(host));
    }
}

bool kubernetes_pod(Value at, Pod& out) {
  std::vector<Volume> of_templates = std::exchange(out.volumes, {});
  if (!kPodSpec(at, out)) return false;
  const std::size_t before = at.report().problem_count();
  std::set<std::string> names;
  for (const Volume& volume : out.volumes) names.insert(volume.name);
  for (Volume& volume : of_templates) {
    if (!names.insert(volume.name).second)
      Value(*volume.place, at.report())
          .problem("the pod has a volume \"{}\" besides that of the template", volume.name);
    out.volumes.push_back(std::move(volume));
  }
  if (out.containers.empty()) {
    at.problem_at("containers", "must have at least one container");
    return false;
  }
  check_init_containers(at, out);
  check_mounts(at, out);
  pod_security(at.member("securityContext"), at, out);
  if (at.report().problem_count() != before) return false;
  read_host_ports(at, out);
  resolve_fields(at, out);
  return at.report().problem_count() == before;
}

}  // namespace ocirun::pods
