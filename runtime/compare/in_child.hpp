#pragma once

#include <functional>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// Runs `work` in a child of the caller, which has a single thread: `work` may enter namespaces.
/// The child dies with the caller. Errors: that of `work`, with its message and number; the child,
/// which `name` names in the sentence, was killed.
Result<void> in_child(std::string_view name, const std::function<Result<void>()>& work);

}  // namespace ocirun::runtime
