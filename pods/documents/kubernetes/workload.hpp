#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bundle/json/value.hpp"
#include "pods/documents/model/pod.hpp"

namespace ocirun::pods {

/// Whether `root` looks like a Pod, Deployment or StatefulSet of Kubernetes.
bool is_kubernetes_workload(const bundle::Node& root);
/// Reads a Pod, Deployment or StatefulSet into `out` and reports every problem; an unknown name is
/// a problem.
void read_kubernetes(bundle::Value at, Pod& out);

/// Whether `root` looks like a document that stands beside a workload of Kubernetes: a Service, a
/// PersistentVolumeClaim, a HorizontalPodAutoscaler, a RuntimeClass, a ServiceAccount, a Namespace.
bool stands_beside(const bundle::Node& root);
/// Reads a document for which stands_beside() is true. `out` was read from the workload of the same
/// file.
void read_document_beside(bundle::Value at, Pod& out);

/// spec of a pod. `out` has the name, the labels and annotations already, and the volumes of the
/// templates of a StatefulSet.
bool kubernetes_pod(bundle::Value at, Pod& out);
/// A container of a pod. Its securityContext and the fields of its variables are not complete until
/// pod_security() and resolve_fields().
bool kubernetes_container(bundle::Value at, Container& out);
/// hostPort and hostIP of the containers' ports.
void read_host_ports(bundle::Value at, Pod& out);
/// The ports of the host that lead to a pod.
class HostPorts {
 public:
  explicit HostPorts(Pod& pod);
  /// Adds a port, unless the same one is there. A problem at `at`: a port of the same number and
  /// protocol, at the same or all addresses, leads elsewhere.
  void add(bundle::Value at, HostPort port);

 private:
  using Key = std::pair<std::uint16_t, Protocol>;
  static Key key_of(const HostPort& port) { return {port.number, port.pod_port->protocol}; }

  std::vector<HostPort>& ports_;
  std::map<Key, std::vector<std::size_t>> places_;  // indexes in ports_
};

/// Gives the variables with a fieldRef the values of the pod's fields. Problems: fields that only a
/// cluster has.
void resolve_fields(bundle::Value at, Pod& pod);

/// spec of a PersistentVolumeClaim: what its access modes say about the volume.
bool claim_spec(bundle::Value at, Volume& out);
/// spec of the claim `name` in the file of the workload: ocirun keeps the volumes of the claim.
bool read_claim(bundle::Value at, const std::string& name, Pod& out);
/// spec of a Service: the ports of the host that lead to the pod.
bool read_service(bundle::Value at, Pod& out);

}  // namespace ocirun::pods
