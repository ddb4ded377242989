#pragma once

#include "pods/prepare/prepare.hpp"

namespace ocirun::pods {

/// Makes the bundle of a container that runs a bundle of the operator: in `site`/NAME a config.json
/// with what the Knative contract adds (PORT and K_… KN-1, KN-2; /tmp and /var/log KN-7, KN-8; the
/// network's files KN-9; --user KN-16; --read-only KN-17; read-only cgroup mounts KN-18), the pod's
/// network namespace and cgroup. All else is the operator's, and so is the root filesystem, which
/// is used where it is. Errors name the container.
Result<ReadyContainer> prepare_contract_bundle(const Workload& workload, const Container& container,
                                               const Site& site, const Surroundings& surroundings,
                                               const std::vector<BoundPath>& network_files);

}  // namespace ocirun::pods
