// The documents that stand beside a workload of Kubernetes.

#include <algorithm>
#include <array>

#include "linux/base/name_table.hpp"
#include "pods/kubernetes/pod_spec.hpp"
#include "pods/kubernetes/workload.hpp"

namespace ocirun::pods {
namespace {

struct Beside {
  std::string name;
  Pod* pod = nullptr;
};

constexpr auto kBesideMetadata =
    exact_fields<Beside>(required("name", &Beside::name, dns_name), part("labels", any_value),
                         part("annotations", any_value),
                         no_effect("namespace", "there are no namespaces of a cluster"))
        .beside(&warn_of_cluster_name);

/// The table of a document. `rows`: what it has besides its metadata.
template <typename... Rows>
constexpr auto document(Rows... rows) {
  return exact_fields<Beside>(required_part("apiVersion", any_value), part("kind", any_value),
                              required_part("metadata", kBesideMetadata), part("status", any_value),
                              rows...);
}

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

struct ServiceSpec {
  ServiceType type = ServiceType::kClusterIp;
  std::map<std::string, std::string> selector;
  std::vector<ServicePort> ports;
};

constexpr auto kServicePort = placed(exact_fields<ServicePort>(
    field("name", &ServicePort::name, dns_label),
    required("port", &ServicePort::number, port_number),
    part("targetPort",
         [](Value at, ServicePort& out) {
           return at.node().is_string() ? nonempty_string(at, out.target_name)
                                        : port_number(at, out.target);
         }),
    field("nodePort", &ServicePort::node_port, port_number),
    field("protocol", &ServicePort::protocol, protocol), part("appProtocol", any_value)));

constexpr std::string_view kNoBalancer = "no load balancer stands in front of the pod";
/// How a cluster treats the requests. `pod export` copies it.
constexpr auto kServiceSpec =
    exact_fields<ServiceSpec>(
        field("selector", &ServiceSpec::selector, string_map),
        field("ports", &ServiceSpec::ports, list_of(kServicePort)),
        field("type", &ServiceSpec::type,
              bundle::word(
                  "type of a Service",
                  [](std::string_view word) { return linux::value_of(kServiceTypes, word); },
                  [] { return linux::names_of(kServiceTypes); })),
        part("clusterIP", any_value), part("clusterIPs", any_value), part("ipFamilies", any_value),
        part("ipFamilyPolicy", any_value), part("internalTrafficPolicy", any_value),
        part("externalTrafficPolicy", any_value), part("publishNotReadyAddresses", any_value),
        part("allocateLoadBalancerNodePorts", any_value), no_effect("sessionAffinity", kNoBalancer),
        no_effect("sessionAffinityConfig", kNoBalancer),
        no_effect("loadBalancerClass", kNoBalancer), no_effect("loadBalancerIP", kNoBalancer),
        no_effect("healthCheckNodePort", kNoBalancer),
        no_effect("trafficDistribution", kNoBalancer))
        .beside([](Value member) {
          static constexpr std::array kOthers{
              UnsupportedName{"externalIPs", "--publish chooses an address of the host"},
              UnsupportedName{"externalName", "a Service leads to the pod of this file"},
              UnsupportedName{"loadBalancerSourceRanges",
                              "the ports of the host are open to all addresses"},
          };
          return refuse_if_listed(member, kOthers);
        });

/// The port of the pod that a port of a Service leads to; nothing after a problem.
std::optional<Port> target_of(const ServicePort& port, Value at, Pod& pod) {
  const std::uint16_t wanted = port.target != 0 ? port.target : port.number;
  for (Container& container : pod.containers)
    for (Port& own : container.ports) {
      const bool is_it = port.target_name.empty()
                             ? own.number == wanted && own.protocol == port.protocol
                             : own.name == port.target_name;
      if (!is_it) continue;
      if (own.service == 0) own.service = port.number;
      return own;
    }
  if (port.target_name.empty())
    return Port{.name = {}, .number = wanted, .protocol = port.protocol, .place = port.place};
  at.problem_at("targetPort", "the port \"{}\" is none of the containers' ports", port.target_name);
  return std::nullopt;
}

/// A port of a Service is a port of this machine where it is one of each machine of a cluster
/// (NodePort), or where clients outside of the cluster reach it (LoadBalancer). Within a cluster it
/// has the address of the Service, which is none of this machine.
void read_service_port(ServiceType type, const ServicePort& port, Value at, Pod& pod) {
  const auto target = target_of(port, at, pod);
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
  add_host_port(at,
                {.name = target->name,
                 .number = number,
                 .address = {},
                 .pod_port = target,
                 .place = port.place,
                 .is_service_s = true},
                pod);
}

bool selects(const ServiceSpec& service, const Pod& pod) {
  return !service.selector.empty() && std::ranges::all_of(service.selector, [&](const auto& label) {
    const auto own = pod.kubernetes->labels.find(label.first);
    return own != pod.kubernetes->labels.end() && own->second == label.second;
  });
}

bool service_spec(Value at, Beside& out) {
  ServiceSpec service;
  if (!kServiceSpec(at, service)) return false;
  if (!selects(service, *out.pod)) {
    const Value place = at.member("selector").value_or(at);
    place.warning("the Service has no effect: its selector is not that of the pod of this file");
    return true;
  }
  const std::size_t before = at.report().problem_count();
  for (const ServicePort& port : service.ports)
    read_service_port(service.type, port, Value(*port.place, at.report()), *out.pod);
  return at.report().problem_count() == before;
}

struct Claim {
  std::vector<std::string> modes;
  std::optional<std::uint64_t> bytes;
};

constexpr std::string_view kOwnDirectory = "the volume is a directory that ocirun keeps";

bool access_modes(Value at, Claim& out) {
  static constexpr std::array<std::string_view, 4> kModes = {"ReadWriteOnce", "ReadOnlyMany",
                                                             "ReadWriteMany", "ReadWriteOncePod"};
  if (!list_of(string)(at, out.modes)) return false;
  for (const Value item : at)
    if (std::ranges::find(kModes, item.node().text) == kModes.end()) {
      bundle::unknown_word(item, "access mode", kModes);
      return false;
    }
  return true;
}

bool claim_document(Value at, Beside& out) {
  Volume claimed;
  if (!claim_spec(at, claimed)) return false;
  bool is_used = false;
  for (Volume& volume : out.pod->volumes) {
    if (volume.kind != Volume::Source::kOperator || volume.source != out.name) continue;
    is_used = volume.is_claimed = true;
    volume.exclusive = claimed.exclusive;
    volume.exclusive_by = claimed.exclusive_by;
    volume.read_only |= claimed.read_only;
    volume.shares_with_all = claimed.shares_with_all;
  }
  if (!is_used)
    at.warning("has no effect: nothing in the workload uses the claim \"{}\"", out.name);
  return true;
}

struct ScalingTargetRef {
  std::string version, kind, name;
};

/// The metrics and the behaviour are the cluster's: `pod export` copies them.
bool autoscaler(Value at, Beside& out) {
  struct Autoscaler {
    ScalingTargetRef target;
    std::uint32_t least = 1;
    Scaling scaling;
  };
  static constexpr auto kTarget =
      exact_fields<ScalingTargetRef>(field("apiVersion", &ScalingTargetRef::version, string),
                                     required("kind", &ScalingTargetRef::kind, nonempty_string),
                                     required("name", &ScalingTargetRef::name, nonempty_string));
  static constexpr auto kCount = bundle::range(1, 2'147'483'647);
  static constexpr auto kTable = exact_fields<Autoscaler>(
      required("scaleTargetRef", &Autoscaler::target, kTarget),
      field("minReplicas", &Autoscaler::least, kCount),
      required_part(
          "maxReplicas",
          [](Value most, Autoscaler& read) { return kCount(most, read.scaling.most.emplace()); }),
      part("metrics", any_value), part("behavior", any_value),
      part("targetCPUUtilizationPercentage", any_value));
  Autoscaler read;
  if (!kTable(at, read)) return false;
  const Value target = *at.member("scaleTargetRef");
  if (read.target.name != out.pod->name || read.target.kind != out.pod->kubernetes->kind) {
    target.warning("the autoscaler has no effect: it scales another workload");
    return true;
  }
  const Value most = *at.member("maxReplicas");
  if (*read.scaling.most < read.least) {
    most.problem("is {}, below minReplicas {}", *read.scaling.most, read.least);
    return false;
  }
  read.scaling.place = &most.node();
  out.pod->scaling = read.scaling;
  out.pod->elsewhere.push_back(
      {"automatic scaling needs several machines: one machine runs 1 replica", &most.node()});
  return true;
}

constexpr auto kService = document(required_part("spec", service_spec));
constexpr auto kClaimDocument = document(required_part("spec", claim_document));
constexpr auto kAutoscaler = document(required_part("spec", autoscaler));
constexpr auto kRuntimeClass = document(required_part("handler", any_value),
                                        part("overhead", any_value), part("scheduling", any_value));
constexpr auto kServiceAccount =
    document(part("secrets", any_value), part("imagePullSecrets", any_value),
             part("automountServiceAccountToken", any_value));
constexpr auto kNamespaceDocument = document(part("spec", any_value));

void read_runtime_class(Value at, Beside& out) {
  if (kRuntimeClass(at, out)) at.warning("has no effect: --runtime chooses the runtime");
}
void read_service_account(Value at, Beside& out) {
  if (kServiceAccount(at, out))
    at.warning("has no effect: there is no cluster that the container could ask");
}
void read_namespace(Value at, Beside& out) {
  if (kNamespaceDocument(at, out))
    at.warning("has no effect: there are no namespaces of a cluster");
}

struct BesideKind {
  std::string_view version, kind;
  void (*read)(Value, Beside&);
};
constexpr std::array kBesideKinds{
    BesideKind{"v1", "Service", [](Value at, Beside& out) { kService(at, out); }},
    BesideKind{"v1", "PersistentVolumeClaim",
               [](Value at, Beside& out) { kClaimDocument(at, out); }},
    BesideKind{"autoscaling/v1", "HorizontalPodAutoscaler",
               [](Value at, Beside& out) { kAutoscaler(at, out); }},
    BesideKind{"autoscaling/v2", "HorizontalPodAutoscaler",
               [](Value at, Beside& out) { kAutoscaler(at, out); }},
    BesideKind{"node.k8s.io/v1", "RuntimeClass", read_runtime_class},
    BesideKind{"v1", "ServiceAccount", read_service_account},
    BesideKind{"v1", "Namespace", read_namespace},
};

const BesideKind* find_beside(const bundle::Node& root) {
  const auto* found = std::ranges::find_if(kBesideKinds, [&](const BesideKind& known) {
    return known.version == text_of_member(root, "apiVersion") &&
           known.kind == text_of_member(root, "kind");
  });
  return found == kBesideKinds.end() ? nullptr : found;
}

}  // namespace

bool claim_spec(Value at, Volume& out) {
  static constexpr auto kRequests =
      exact_fields<Claim>(part("storage", [](Value size, Claim& read) {
        if (!kubernetes_bytes(size, read.bytes.emplace())) return false;
        size.warning("has no effect: a directory has no size of its own");
        return true;
      }));
  static constexpr auto kResources =
      exact_fields<Claim>(part("requests", kRequests), part("limits", kRequests));
  static constexpr auto kTable = exact_fields<Claim>(
      part("accessModes", access_modes), part("resources", kResources),
      no_effect("storageClassName", kOwnDirectory), no_effect("volumeName", kOwnDirectory),
      no_effect("selector", kOwnDirectory), no_effect("volumeAttributesClassName", kOwnDirectory),
      part("volumeMode",
           [](Value mode, Claim&) {
             std::string word;
             if (!string(mode, word)) return false;
             return word == "Filesystem" || refuse_known_name(mode, "a volume is a directory");
           }),
      not_supported("dataSource", "a new volume has what the image has there"),
      not_supported("dataSourceRef", "a new volume has what the image has there"));
  Claim claim;
  if (!kTable(at, claim)) return false;
  const auto has = [&](std::string_view mode) {
    return std::ranges::find(claim.modes, mode) != claim.modes.end();
  };
  out.exclusive = has("ReadWriteOncePod");
  if (out.exclusive) out.exclusive_by = "its access mode is ReadWriteOncePod";
  out.read_only = out.shares_with_all = claim.modes.size() == 1 && has("ReadOnlyMany");
  return true;
}

bool stands_beside(const bundle::Node& root) { return find_beside(root) != nullptr; }

void read_document_beside(Value at, Pod& out) {
  Beside beside{.name = {}, .pod = &out};
  // The name comes first, wherever it stands in the document.
  if (const auto metadata = at.member("metadata"))
    beside.name = text_of_member(metadata->node(), "name");
  find_beside(at.node())->read(at, beside);
}

}  // namespace ocirun::pods
