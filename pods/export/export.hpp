#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "pods/prepare/given.hpp"

namespace ocirun::pods {

/// The object of Kubernetes that keeps the pods.
enum class ExportedKind : std::uint8_t { kDeployment, kPod, kStatefulSet };

/// A workload for an engine of many machines.
struct ExportRequest {
  const Workload& workload;  // without problems; replace_parts() has changed its pod
  const Given& given;        // the options that complete the document
  std::string name;          // of the pod
  std::map<std::string, std::string> images;   // --image NAME=docker://REFERENCE, without docker://
  std::map<std::string, std::uint64_t> sizes;  // --size NAME=SIZE: bytes of a persistent volume
  std::optional<SeccompRequest::Kind> seccomp;  // --seccomp
  std::optional<ExportedKind> kind;             // --kind
  std::string runtime_class;                    // --runtime-class; "": the engine's default
  bool lossy = false;                           // --lossy
};

struct Exported {
  std::string text;                // YAML
  std::vector<std::string> notes;  // sentences for the person at the terminal
};

/// The objects of Kubernetes that run the workload: a Deployment, Pod, StatefulSet, or, without a
/// kind in the request, the Knative document; ConfigMaps, a Service, claims, a HorizontalPodAutoscaler, a RuntimeClass. Secrets are
/// references, never content. Errors list all that Kubernetes cannot say, each with its place,
/// unless the request is lossy; then comments in the text list it.
Result<Exported> export_to_kubernetes(const ExportRequest& request);

}  // namespace ocirun::pods
