#pragma once

#include "pods/prepare/prepare.hpp"

namespace ocirun::pods {

/// Who is to run the bundles. An ordinary user is root of a user namespace while they are written:
/// a container then makes one with the same ids, so that the files of its root have the owners that
/// the image gives them.
enum class BundleOwner : std::uint8_t { kRoot, kOrdinaryUser };

/// Writes the bundles of a pod into the directory `out`, which must not exist: NAME/config.json and
/// NAME/rootfs for each container, volumes/, etc/. Any OCI runtime can run a bundle. The containers
/// share nothing but the volumes. `data` has the store of images. Returns the warnings. After an
/// error `out` does not exist.
Result<std::vector<std::string>> plan_pod(const Workload& workload, const Given& given,
                                          const HostPath& data, const std::string& name,
                                          const HostPath& out, BundleOwner owner);

}  // namespace ocirun::pods
