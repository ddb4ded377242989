#pragma once

#include <map>
#include <span>

#include "pods/metadata/manifest.hpp"
#include "pods/prepare/prepare.hpp"

namespace ocirun::pods {

/// Whether the pod of the document can have a metadata service. Errors: the document is no App
/// Container pod; an app sets AC_METADATA_URL, which is the service's.
Result<void> check_metadata(const Workload& workload);

/// Collects what is known of a pod whose bundles are ready. The containers, images and `given` must
/// outlive the result.
Result<Reified> reify(std::span<const ReadyContainer> containers,
                      const std::map<const Container*, StoredImage>& images, const Given& given);

}  // namespace ocirun::pods
