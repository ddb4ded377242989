#pragma once

#include "pods/run/run_pod.hpp"
#include "pods/state/pod_directory.hpp"

namespace ocirun::pods {

/// Tries, in a child process, whether the bundles of a pod can be made: makes them in a directory
/// beside the pods, with their volumes and root filesystems, looks their programs up, and removes
/// them. Starts nothing. Errors: those of making the bundles and of check_program().
Result<void> try_bundles(const PodsDirectory& pods, const NewPod& pod);

}  // namespace ocirun::pods
