#pragma once

#include "pods/prepare/prepare.hpp"

namespace ocirun::pods {

/// Writes the bundles of a pod into the directory `out`, which must not exist: NAME/config.json and
/// NAME/rootfs for each container, volumes/, etc/. Any OCI runtime can run a bundle. The containers
/// share nothing but the volumes. `data` has the store of images. After an error `out` does not
/// exist.
Result<void> plan_pod(const Workload& workload, const Given& given, const HostPath& data,
                      const std::string& name, const HostPath& out);

}  // namespace ocirun::pods
