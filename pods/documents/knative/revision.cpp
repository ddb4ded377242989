#include <algorithm>
#include <array>

#include "pods/documents/knative/service.hpp"
#include "pods/documents/kubernetes/pod_spec.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kNoProxy = "no proxy stands between a request and the container";

/// 0 is no limit.
bool concurrency(Value at, Pod& /*out*/) {
  std::uint32_t count = 0;
  if (!whole_number(0, 1000)(at, count)) return false;
  if (count != 0) at.warning("has no effect: {}", kNoProxy);
  return true;
}

constexpr std::string_view kNoCluster = "there is no cluster that the container could ask";

constexpr std::string_view kOneMachine = "one machine runs all pods";
constexpr std::array kUnsupportedOfRevision{
    UnsupportedName{"activeDeadlineSeconds", "a pod runs until it is stopped"},
    UnsupportedName{"affinity", kOneMachine},
    UnsupportedName{"dnsConfig", "containers have the name servers of the host"},
    UnsupportedName{"dnsPolicy", "containers have the name servers of the host"},
    UnsupportedName{"ephemeralContainers", "`ocirun pod exec` runs a program in a container"},
    UnsupportedName{"hostAliases", "/etc/hosts has the name of the pod only"},
    UnsupportedName{"hostIPC", "containers share the pod's namespace"},
    UnsupportedName{"hostNetwork", "--net host gives the pod the network of the host"},
    UnsupportedName{"hostPID", "each container has processes of its own"},
    UnsupportedName{"hostUsers", "pods of root have the users of the host", true},
    UnsupportedName{"hostname", "the host name is the name of the pod"},
    UnsupportedName{"hostnameOverride", "the host name is the name of the pod"},
    UnsupportedName{"nodeName", kOneMachine},
    UnsupportedName{"nodeSelector", kOneMachine},
    UnsupportedName{"os", "containers of another system do not run here"},
    UnsupportedName{"overhead", "the containers' resources are those of the pod"},
    UnsupportedName{"preemptionPolicy", kOneMachine},
    UnsupportedName{"priority", kOneMachine},
    UnsupportedName{"priorityClassName", kOneMachine},
    UnsupportedName{"readinessGates", "a pod is ready when its containers are"},
    UnsupportedName{"resourceClaims", "containers get no devices of the host"},
    UnsupportedName{"resources", "write resources in each container"},
    UnsupportedName{"restartPolicy", "--restart says when a container is started again"},
    UnsupportedName{"runtimeClassName", "--runtime chooses the runtime"},
    UnsupportedName{"schedulerName", kOneMachine},
    UnsupportedName{"schedulingGates", kOneMachine},
    UnsupportedName{"securityContext", "write securityContext in each container"},
    UnsupportedName{"setHostnameAsFQDN", "the host name is the name of the pod"},
    UnsupportedName{"shareProcessNamespace", "each container has processes of its own"},
    UnsupportedName{"subdomain", "the host name is the name of the pod"},
    UnsupportedName{"terminationGracePeriodSeconds", "--grace is the time that a stop gives"},
    UnsupportedName{"tolerations", kOneMachine},
    UnsupportedName{"topologySpreadConstraints", kOneMachine},
};

constexpr auto kRevisionSpec =
    exact_fields<Pod>(
        required("containers", &Pod::containers, knative_containers),
        field("initContainers", &Pod::init_containers, knative_init_containers),
        field("volumes", &Pod::volumes,
              [](Value at, std::vector<Volume>& out) {
                return pod_volumes(at, out, Dialect::kKnative);
              }),
        part("imagePullSecrets", pod_pull_secrets), part("containerConcurrency", concurrency),
        no_effect("timeoutSeconds", kNoProxy), no_effect("responseStartTimeoutSeconds", kNoProxy),
        no_effect("idleTimeoutSeconds", kNoProxy), no_effect("serviceAccountName", kNoCluster),
        no_effect("serviceAccount", kNoCluster),
        no_effect("automountServiceAccountToken", kNoCluster),
        no_effect("enableServiceLinks", kNoCluster))
        .beside([](Value member) { return refuse_if_listed(member, kUnsupportedOfRevision); });

/// KN-3: one container has one port; requests come in there.
void check_inbound_port(Value at, Pod& pod) {
  std::size_t count = 0;
  Container* inbound = pod.containers.size() == 1 ? &pod.containers.front() : nullptr;
  for (Container& container : pod.containers) {
    count += container.ports.size();
    if (!container.ports.empty()) inbound = &container;
  }
  if (count > 1)
    return at.problem_at("containers",
                         "must have one port in all, the one that requests come to, not {}", count);
  if (inbound == nullptr)
    return at.problem_at(
        "containers", "one of several containers must have a port, the one that requests come to");
  if (count != 0) return;
  Port& port = inbound->ports.emplace_back();
  port.number = 8080;
  port.place = inbound->place;
}

/// KN-1: the platform sets PORT in the container that has the port.
void check_port_variable(Value at, const Container& container) {
  if (container.ports.empty()) return;
  for (const EnvVariable& variable : container.env)
    if (variable.name == "PORT")
      Value(variable.place != nullptr ? *variable.place : at.node(), at.report())
          .problem_at("name", "PORT is set by the platform, and must not be set here");
}

/// KN-5: the port of a probe is the inbound one, which it may leave out.
void check_probe(Value at, std::optional<Probe>& probe, std::uint16_t port) {
  if (!probe) return;
  const Value place(probe->place != nullptr ? *probe->place : at.node(), at.report());
  const auto check = [&](std::uint16_t& number, const std::string& name) {
    if (number == 0 && name.empty()) number = port;
    if (number != port) place.problem("must ask the inbound port {}, not {}", port, number);
  };
  if (auto* http = std::get_if<HttpProbe>(&probe->question))
    check(http->port, http->port_name);
  else if (auto* tcp = std::get_if<TcpProbe>(&probe->question))
    check(tcp->port, tcp->port_name);
  else
    place.problem("must be httpGet or tcpSocket: the contract has no other probes");
}

/// The probes of a container that serves no requests must say which port they ask.
void check_sidecar_probes(Value at, const Container& container) {
  for (const auto* probe : {&container.liveness, &container.readiness, &container.startup}) {
    if (!*probe) continue;
    const auto* http = std::get_if<HttpProbe>(&(*probe)->question);
    const auto* tcp = std::get_if<TcpProbe>(&(*probe)->question);
    if ((http != nullptr && http->port == 0) || (tcp != nullptr && tcp->port == 0))
      Value(*(*probe)->place, at.report())
          .problem("must have a port: this container is not the one that requests come to");
  }
}

}  // namespace

bool knative_revision(Value at, Pod& out) {
  if (!kRevisionSpec(at, out)) return false;
  const std::size_t before = at.report().problem_count();
  if (out.containers.empty()) {
    at.problem_at("containers", "must have at least one container");
    return false;
  }
  check_init_containers(at, out);
  check_inbound_port(at, out);
  if (at.report().problem_count() != before) return false;
  for (Container& container : out.containers) {
    // A container without a port serves no requests; its probes may ask any port.
    const bool inbound = !container.ports.empty();
    check_port_variable(at, container);
    for (auto* probe : {&container.liveness, &container.readiness, &container.startup})
      if (inbound) check_probe(at, *probe, container.ports.front().number);
    if (!inbound) check_sidecar_probes(at, container);
    if (!inbound || container.readiness) continue;
    container.readiness =
        Probe{.question = TcpProbe{.port = container.ports.front().number, .port_name = {}},
              .period = kPlatformPeriod,
              .place = container.place};
  }
  check_mounts(at, out);
  return at.report().problem_count() == before;
}

}  // namespace ocirun::pods
