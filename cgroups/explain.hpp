#pragma once

#include <string>

#include "cgroups/directory.hpp"
#include "cgroups/plan.hpp"

namespace ocirun::cgroups {

/// Why the kernel refused a write with `number` (errno), as far as the cgroup's files tell: a part
/// of a sentence, or "".
std::string explain(const Directory& directory, const Write& write, int number);

}  // namespace ocirun::cgroups
