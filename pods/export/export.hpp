#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "pods/prepare/complete.hpp"

namespace ocirun::pods {

/// The object of Kubernetes that keeps the pods.
enum class ExportedKind : std::uint8_t { kDeployment, kPod, kStatefulSet };

/// Where Swarm publishes a port. kIngress: on each node, leading to all tasks. kHost: on the nodes
/// of tasks.
enum class PortMode : std::uint8_t { kIngress, kHost };
/// What the name of a service leads to in Swarm. kVip: one address for all tasks. kDnsrr: the
/// addresses of the tasks.
enum class EndpointMode : std::uint8_t { kVip, kDnsrr };

/// A workload for an engine of many machines.
struct ExportRequest {
  const Completed& completed;
  std::string name;                            // of the pod
  std::map<std::string, std::string> images;   // --image NAME=docker://REFERENCE, without docker://
  std::map<std::string, std::uint64_t> sizes;  // --size NAME=SIZE: bytes of a persistent volume
  std::optional<SeccompRequest::Kind> seccomp;      // --seccomp
  std::optional<ExportedKind> kind;                 // --kind
  std::string runtime_class;                        // --runtime-class; "": the engine's default
  PortMode port_mode = PortMode::kIngress;          // --port-mode
  EndpointMode endpoint_mode = EndpointMode::kVip;  // --endpoint-mode
  bool lossy = false;                               // --lossy
};

struct Exported {
  std::string text;                          // YAML
  std::map<std::string, std::string> files;  // what the text refers to: contents by relative path
  std::vector<std::string> notes;            // sentences for the person at the terminal
};

/// The objects of Kubernetes that run the workload: a Deployment, Pod or StatefulSet, or, for a
/// Knative document without a kind in the request, the Knative document; ConfigMaps, a Service,
/// claims, a HorizontalPodAutoscaler, a RuntimeClass. Secrets are references, never content. Errors
/// list all that Kubernetes cannot say, each with its place, unless the request is lossy; then
/// comments in the text list it.
Result<Exported> export_to_kubernetes(const ExportRequest& request);

/// The first comment of a Compose file begins with this command.
inline constexpr std::string_view kDeployCommand = "docker stack deploy";
/// The files of a Compose file's configs stand in this directory beside it.
inline constexpr std::string_view kConfigDirectory = "configs";

/// A Compose file of version 3.8 for `docker stack deploy`, in which each container is a service,
/// and the files of its configs. Secrets are external, never content. Errors list all that Swarm
/// cannot say, each with its place, unless the request is lossy; then comments in the text list it.
Result<Exported> export_to_swarm(const ExportRequest& request);

}  // namespace ocirun::pods
