#pragma once

#include <cstdint>
#include <string_view>

#include "bundle/json/value.hpp"

namespace ocirun::pods {

inline constexpr std::string_view kWorkloadKinds =
    "a workload document is one of: OAM (kind: ContainerizedWorkload), App Container (acKind: "
    "PodManifest), Knative (apiVersion: serving.knative.dev/v1), Kubernetes (kind: Pod, Deployment "
    "or StatefulSet), Radius (properties with containers or container)";

/// Whether a workload stands in the same file.
enum class BesideWorkload : std::uint8_t { kNo, kYes };

/// Reports a document of a kind that ocirun does not read, with what to do instead.
void refuse_kind(bundle::Value document, BesideWorkload beside);

}  // namespace ocirun::pods
