#pragma once

#include <functional>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "runtime/base/signals.hpp"

namespace ocirun::runtime {

/// Runs `open` in a short-lived child. A filesystem that hangs blocks only the child, so this
/// process still reacts to signals. `open` may change the namespaces of its process: see
/// clone_locked_bind() and clone_bind_inside(). The child keeps only the descriptors in `keep`.
Result<UniqueFd> open_in_child(const std::function<Result<UniqueFd>()>& open, std::vector<Fd> keep,
                               const OnSilence& on_silence);

}  // namespace ocirun::runtime
