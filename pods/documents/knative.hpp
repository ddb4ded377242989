#pragma once

#include <string_view>

#include "bundle/json/value.hpp"
#include "pods/documents/pod.hpp"

namespace ocirun::pods {

/// Stands before the name of a config map, which the operator gives like a secret: --secret
/// configmap/NAME=DIR.
inline constexpr std::string_view kConfigMapPrefix = "configmap/";

/// spec of a Revision, which is spec.template.spec of a Service or Configuration: the containers,
/// their volumes, and the rules of the runtime contract for them (KN-1, KN-3, KN-5, KN-15 … KN-17,
/// KN-24).
bool knative_revision(bundle::Value at, Pod& out);
/// The containers of a revision; `at` is their list.
bool knative_containers(bundle::Value at, std::vector<Container>& out);
bool knative_init_containers(bundle::Value at, std::vector<Container>& out);

}  // namespace ocirun::pods
