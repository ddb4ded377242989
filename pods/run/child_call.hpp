#pragma once

#include <functional>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// Calls `act` in a child process, and waits for the end of the child. For an act that changes the
/// process, such as its namespaces. The caller must have a single thread. `doing` names the act in
/// messages ("work on the pod"). Errors: those of `act`; the child was killed.
Result<void> call_in_child(const std::function<Result<void>()>& act, std::string_view doing);

}  // namespace ocirun::pods
