#pragma once

#include "linux/files/safe_dir.hpp"
#include "pods/documents/workload.hpp"
#include "pods/plan/bundle.hpp"

namespace ocirun::pods {

/// Checks that the volumes and config files of a container, which `plan` binds, fit what is at
/// their paths: in the root filesystem `root`, or in a volume that is bound above. Errors, with the
/// place in the document: a file over a directory, a directory over a file, a path through a file,
/// a new path in a volume that is read-only, a path in /proc. What a subPath leads to is not known
/// before the start.
Result<void> check_mount_places(const Workload& workload, const Container& container,
                                const BundlePlan& plan, const linux::SafeDir& root);

}  // namespace ocirun::pods
