#pragma once

#include <string_view>

#include "bundle/json/value.hpp"
#include "pods/documents/model/pod.hpp"

namespace ocirun::pods {

/// Reads a Service, Configuration or Revision of serving.knative.dev/v1 (docs/requirements.md, KN)
/// into `out` and reports every problem; an unknown name is a problem.
void read_knative(bundle::Value at, Pod& out);

/// spec of a Revision, which is spec.template.spec of a Service or Configuration. Reads the
/// containers and volumes, and checks the rules of the runtime contract (KN-1, KN-3, KN-5, KN-15 …
/// KN-17, KN-24).
bool knative_revision(bundle::Value at, Pod& out);
/// The containers of a revision; `at` is their list.
bool knative_containers(bundle::Value at, std::vector<Container>& out);
bool knative_init_containers(bundle::Value at, std::vector<Container>& out);

}  // namespace ocirun::pods
