#pragma once

#include <string>
#include <string_view>

#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/plan/plan.hpp"

namespace ocirun::cgroups {

/// Explains why the kernel refused `write` with errno `number`, as far as the cgroup's files tell
/// the reason: a part of a sentence, or "".
std::string explain(const Directory& directory, const Write& write, int number);
/// The sentence about a limit that the running kernel no longer has.
std::string explain_dropped(std::string_view pointer);

}  // namespace ocirun::cgroups
