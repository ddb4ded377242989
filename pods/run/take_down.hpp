#pragma once

#include "pods/state/pod_directory.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {

/// Removes all that a pod has outside of its directory: its containers, cgroup, and processes.
/// Continues after an error; returns the first.
Result<void> take_down(const PodRecord& record);

/// Writes the end of the pod into its record, which stays for `status`.
Result<void> record_end(const PodDirectory& directory, PodRecord record);

}  // namespace ocirun::pods
