#include <algorithm>
#include <map>
#include <utility>

#include "linux/base/name_table.hpp"
#include "pods/documents/kubernetes/pod_spec.hpp"
#include "pods/documents/kubernetes/unsupported.hpp"
#include "pods/documents/kubernetes/workload.hpp"

namespace ocirun::pods {
namespace {

struct ServicePort {
  std::string name;
  std::uint16_t number = 0, node_port = 0;
  Protocol protocol = Protocol::kTcp;
  std::string target_name;
  std::uint16_t target = 0;
  Place place = nullptr;
};

enum class ServiceType : std::uint8_t { kClusterIp, kNodePort, kLoadBalancer };
constexpr linux::Named<ServiceType> kServiceTypes[] = {
    {"ClusterIP", ServiceType::kClusterIp},
    {"NodePort", ServiceType::kNodePort},
    {"LoadBalancer", ServiceType::kLoadBalancer}};

bool service_type(Value at, ServiceType& out) {
  if (!at.node().is_string() || at.node().text != "ExternalName")
    return word_of<kServiceTypes>("type of a Service")(at, out);
  return refuse_known(at, "Service",
                      "ExternalName gives another server a name, and leads to no pod");
}

struct ServiceSpec {
  ServiceType type = ServiceType::kClusterIp;
  std::map<std::string, std::string> selector;
  std::vector<ServicePort> ports;
};

constexpr auto kServicePort = placed(exact_fields<ServicePort>(
    field("name", &ServicePort::name, dns_label),
    required("port", &ServicePort::number, port_number),
    part_unless_empty<std::string>("targetPort",
                                   [](Value at, ServicePort& out) {
                                     return at.node().is_string()
                                                ? nonempty_string(at, out.target_name)
                                                : port_number(at, out.target);
                                   }),
    field("nodePort", &ServicePort::node_port, port_number),
    field("protocol", &ServicePort::protocol, protocol), part("appProtocol", any_value)));

constexpr std::string_view kNoBalancer = "no load balancer stands in front of the pod";
constexpr auto kServiceSpec =
    exact_fields<ServiceSpec>(
        field("selector", &ServiceSpec::selector, string_map),
        field("ports", &ServiceSpec::ports, list_of(kServicePort)),
        field("type", &ServiceSpec::type, service_type), part("externalName", any_value),
        part("clusterIP", any_value), part("clusterIPs", any_value), part("ipFamilies", any_value),
        part("ipFamilyPolicy", any_value), part("internalTrafficPolicy", any_value),
        part("externalTrafficPolicy", any_value), part("publishNotReadyAddresses", any_value),
        part("allocateLoadBalancerNodePorts", any_value), no_effect("sessionAffinity", kNoBalancer),
        no_effect("sessionAffinityConfig", kNoBalancer),
        no_effect("loadBalancerClass", kNoBalancer), no_effect("loadBalancerIP", kNoBalancer),
        no_effect("healthCheckNodePort", kNoBalancer),
        no_effect("trafficDistribution", kNoBalancer))
        .beside([](Value member) {
          return refuse_if_listed(member, unsupported_of(PartOfPod::kService));
        });

/// The ports of the containers: the first of each name and of each number.
struct PodPorts {
  explicit PodPorts(Pod& pod) {
    for (Container& container : pod.containers)
      for (Port& port : container.ports) {
        by_name.emplace(port.name, &port);
        by_number.emplace(std::pair(port.number, port.protocol), &port);
      }
  }
  std::map<std::string_view, Port*> by_name;
  std::map<std::pair<std::uint16_t, Protocol>, Port*> by_number;
};

template <typename Key>
Port* find_in(const std::map<Key, Port*>& among, const Key& key) {
  const auto found = among.find(key);
  return found == among.end() ? nullptr : found->second;
}

/// The port of the pod that a port of a Service leads to; nothing after a problem.
std::optional<Port> target_of(const ServicePort& port, Value at, const PodPorts& own_ports) {
  const std::uint16_t wanted = port.target != 0 ? port.target : port.number;
  Port* own = port.target_name.empty()
                  ? find_in(own_ports.by_number, std::pair(wanted, port.protocol))
                  : find_in(own_ports.by_name, std::string_view(port.target_name));
  if (own != nullptr) {
    if (own->service == 0) own->service = port.number;
    return *own;
  }
  if (port.target_name.empty())
    return Port{.name = {}, .number = wanted, .protocol = port.protocol, .place = port.place};
  at.problem_at("targetPort", "the port \"{}\" is none of the containers' ports", port.target_name);
  return std::nullopt;
}

/// A port of a Service is a port of this machine where it is one of each machine of a cluster
/// (NodePort), or where clients outside of the cluster reach it (LoadBalancer). Within a cluster it
/// has the address of the Service, which is none of this machine.
void read_service_port(ServiceType type, const ServicePort& port, Value at, const Pod& pod,
                       const PodPorts& own_ports, HostPorts& host_ports) {
  const auto target = target_of(port, at, own_ports);
  if (!target) return;
  const bool is_node_port = type == ServiceType::kNodePort;
  if (type == ServiceType::kClusterIp) {
    if (target->number != port.number)
      at.warning("has no effect: nothing stands in front of the pod, whose own port is {}",
                 target->number);
    return;
  }
  if (is_node_port && port.node_port == 0)
    return at.warning("has no effect: it has no nodePort, which a cluster would choose");
  const std::uint16_t number = is_node_port ? port.node_port : port.number;
  if (pod.host_network && number != target->number)
    return at.warning("has no effect: with hostNetwork the port of the host is {}", target->number);
  host_ports.add(at, {.name = target->name,
                      .number = number,
                      .address = {},
                      .pod_port = target,
                      .place = port.place,
                      .is_of_service = true});
}

bool selects(const ServiceSpec& service, const Pod& pod) {
  return !service.selector.empty() && std::ranges::all_of(service.selector, [&](const auto& label) {
    const auto own = pod.metadata.labels.find(label.first);
    return own != pod.metadata.labels.end() && own->second == label.second;
  });
}

}  // namespace

bool read_service(Value at, Pod& out) {
  ServiceSpec service;
  const std::size_t before = at.report().problem_count();
  const bool is_read = kServiceSpec(at, service);
  const auto external = at.member("externalName");  // a part of the type ExternalName
  if (external && text_of_member(at.node(), "type") != "ExternalName")
    refuse_if_listed(*external, unsupported_of(PartOfPod::kService));
  if (!is_read) return false;
  if (!selects(service, out)) {
    const Value place = at.member("selector").value_or(at);
    place.warning("the Service has no effect: its selector is not that of the pod of this file");
    return true;
  }
  const PodPorts own_ports(out);
  HostPorts host_ports(out);
  for (const ServicePort& port : service.ports)
    read_service_port(service.type, port, Value(*port.place, at.report()), out, own_ports,
                      host_ports);
  return at.report().problem_count() == before;
}

}  // namespace ocirun::pods
