#pragma once

// Readers of the parts of a Kubernetes PodSpec. A revision of Knative has most of them too.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "pods/documents/model/pod.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {

/// Whose PodSpec is read. Knative's has fewer fields.
enum class Dialect : std::uint8_t { kKubernetes, kKnative };

/// env of a container. `reserved`: the names that the document must not set. The value of a
/// variable with a fieldRef is empty until resolve_fields().
bool container_env(Value at, std::vector<EnvVariable>& out, Dialect dialect,
                   std::span<const std::string_view> reserved = {});
/// envFrom of a container.
bool container_env_sources(Value at, std::vector<EnvSource>& out);
/// volumeMounts of a container.
bool container_mounts(Value at, std::vector<Mount>& out);
/// volumes of a pod.
bool pod_volumes(Value at, std::vector<Volume>& out, Dialect dialect);
/// imagePullSecrets of a pod: one at most.
bool pod_pull_secrets(Value at, Pod& out);

/// resources of a container: requests and limits of CPUs and memory.
bool plain_resources(Value at, Resources& out);
/// plain_resources(), and extended resources, whose names have a domain ("vendor.com/gpu").
bool kubernetes_resources(Value at, Resources& out);

/// securityContext of a container of Knative (KN-16, KN-17). Members that the contract does not let
/// the developer set are problems (KN-15).
bool knative_security(Value at, Container& out);
/// securityContext of a container of Kubernetes.
bool container_security(Value at, Container& out);
/// Gives the containers and volumes of `out`, which were read from `spec`, what the pod's
/// securityContext `at` says for all. A container's own securityContext is stronger.
bool pod_security(std::optional<Value> at, Value spec, Pod& out);

/// Reads a list of containers with `reader`. A container without a name gets `prefix` if it is the
/// first of the list, else "PREFIX-INDEX" with its index in the list. `prefix` "": each container
/// has a name.
bool pod_containers(Value at, std::vector<Container>& out, bool (*reader)(Value, Container&),
                    std::string_view prefix);

/// The checks of a whole pod, whose spec is `at`. check_init_containers(): an init container has
/// its own name, no probes and no ports. check_mounts(): each mount has a volume.
void check_init_containers(Value at, const Pod& pod);
void check_mounts(Value at, const Pod& pod);

}  // namespace ocirun::pods
