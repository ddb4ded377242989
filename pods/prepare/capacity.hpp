#pragma once

#include "pods/plan/admission.hpp"

namespace ocirun::pods {

/// What the machine can give: the CPUs that the caller may use, and the memory that is available
/// now, or what the cgroups above the caller leave of it if that is less. `extended` is the
/// operator's.
Result<Capacity> read_capacity(const std::map<std::string, std::string>& extended);

}  // namespace ocirun::pods
