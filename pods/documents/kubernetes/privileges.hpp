#pragma once

#include "pods/documents/kubernetes/pod_spec.hpp"

namespace ocirun::pods {

// Members of a securityContext.

/// capabilities: names with or without CAP_, and "ALL" for all that are dropped. The contract of
/// Knative allows only NET_BIND_SERVICE to be added.
bool context_capabilities(Value at, Container& container, Dialect dialect);
/// seccompProfile.
bool context_seccomp(Value at, SeccompRequest& out);
/// seLinuxOptions. Missing parts of the label are those of a usual container:
/// system_u:system_r:container_t:s0.
bool context_selinux(Value at, Container& out);
/// appArmorProfile.
bool context_apparmor(Value at, Container& out);

}  // namespace ocirun::pods
