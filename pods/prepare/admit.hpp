#pragma once

#include "pods/documents/workload.hpp"
#include "pods/prepare/given.hpp"

namespace ocirun::pods {

/// Errors, all in one sentence: what the containers require and the machine does not have (OAM-12).
/// Nothing of the pod may have been started before.
Result<void> admit(const Workload& workload, const Given& given);

}  // namespace ocirun::pods
