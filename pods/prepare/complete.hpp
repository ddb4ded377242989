#pragma once

#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "pods/prepare/given.hpp"
#include "pods/prepare/plan/ports.hpp"

namespace ocirun::pods {

/// Completes a workload without problems: keeps its claims below `data`, the directory of --data,
/// if it will run on this machine; applies `given`, and then `published`, whose ports may be those
/// that an option has moved; and checks, unless it runs already, that the options give everything
/// that the document names. Errors: those of keep_claims(), replace_parts(), publish() and
/// check_given().
Result<Completed> complete(Workload workload, Given given, const HostPath& data,
                           const std::vector<Published>& published, Audience audience);

}  // namespace ocirun::pods
