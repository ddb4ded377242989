#pragma once

#include <string_view>

#include "bundle/json/value.hpp"
#include "pods/model/pod.hpp"

namespace ocirun::pods {

/// Reads a Service, Configuration or Revision of serving.knative.dev/v1 (matrix §5.3) into `out`
/// and reports every problem; an unknown name is a problem.
void read_knative(bundle::Value at, Pod& out);

/// spec of a Revision, which is spec.template.spec of a Service or Configuration. Reads the
/// containers and volumes, and checks the rules of the runtime contract (KN-1, KN-3, KN-5, KN-15 …
/// KN-17, KN-24).
bool knative_revision(bundle::Value at, Pod& out);
/// The containers of a revision; `at` is their list.
bool knative_containers(bundle::Value at, std::vector<Container>& out);
bool knative_init_containers(bundle::Value at, std::vector<Container>& out);
/// env and envFrom of a container.
bool knative_env(bundle::Value at, std::vector<EnvVariable>& out);
bool knative_env_sources(bundle::Value at, std::vector<EnvSource>& out);
/// The volumes of a revision, and the mounts of a container.
bool knative_volumes(bundle::Value at, std::vector<Volume>& out);
bool knative_mounts(bundle::Value at, std::vector<Mount>& out);

}  // namespace ocirun::pods
