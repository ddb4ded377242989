#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pods/documents/kubernetes/names.hpp"
#include "pods/export/exported.hpp"

namespace ocirun::pods {

/// A claim that gives a pod its persistent volume.
struct VolumeClaim {
  std::string name;  // of the claim
  YamlPart spec;     // empty: the claim must exist
  bool exclusive = false;
};

/// The names of a pod's parts in Kubernetes, and the objects beside the pod.
struct KubernetesPod {
  Translation& translation;
  ExportedKind kind = ExportedKind::kDeployment;
  std::map<const Port*, std::string> port_names = {};    // "": none
  std::map<std::string, std::string> volume_names = {};  // by the name in the document
  std::map<std::string, VolumeClaim> claims = {};        // by the name in the document
  /// The space that the ephemeral volumes require. Each counts for the first container that mounts
  /// it.
  std::map<const Container*, std::uint64_t> ephemeral_bytes = {};
  std::map<std::string, std::string> config_files = {};  // the content of the ConfigMap, by key
  std::map<const ConfigFile*, std::string> config_keys = {};

  /// The name of the ConfigMap with the config files.
  std::string config_map() const { return translation.request().name + "-config"; }
  /// Whether there may be more than one pod at a time.
  bool has_replicas() const {
    const Pod& pod = translation.pod();
    return pod.scaling || (pod.replicas && pod.replicas->count > 1);
  }
};

/// A quantity of Kubernetes: "500m" CPUs, rounded up to thousandths.
std::string cpu_quantity(double cpus);
/// "64Mi": bytes with the largest unit that leaves them whole.
std::string byte_quantity(std::uint64_t bytes);
/// `text` with "$$" for each "$" that would begin a reference or "$$": Kubernetes makes `text` of
/// it.
std::string without_references(std::string_view text);

/// Chooses the names of ports and volumes, claims, and the keys of config files. Losses: names that
/// Kubernetes does not accept; persistent volumes that do not fit the number of replicas.
void plan_port_names(KubernetesPod& pod);
void plan_volumes(KubernetesPod& pod);
void plan_config_files(KubernetesPod& pod);

/// Adds a container to the list `out`.
void add_kubernetes_container(const KubernetesPod& pod, const Container& container, YamlPart& out);
/// env and envFrom of a container.
YamlPart kubernetes_variables(Translation& translation, const Container& container);
YamlPart kubernetes_variable_sources(Translation& translation, const Container& container);
/// The name of the secret or config map `id` in Kubernetes: of an id of Radius, only the last part.
/// Loss, at `place`: a name that Kubernetes does not accept.
std::string kubernetes_secret_name(Translation& translation, Place place, const std::string& id);
/// securityContext of a container; empty if the document asks for nothing.
YamlPart kubernetes_security(Translation& translation, const Container& container);
/// volumes of the pod.
YamlPart kubernetes_volumes(const KubernetesPod& pod);
/// volumeMounts of a container.
YamlPart kubernetes_mounts(const KubernetesPod& pod, const Container& container);
/// spec of the pod.
YamlPart kubernetes_pod_spec(const KubernetesPod& pod);

/// Returns the documents of a Knative workload, changed as the options say. Kubernetes with Knative
/// reads the documents.
Result<Exported> export_knative(const ExportRequest& request);

}  // namespace ocirun::pods
