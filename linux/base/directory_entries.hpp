#pragma once

#include <functional>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// Calls `visit` with the name and the type (DT_*) of each entry of `directory` except "." and
/// "..", in the kernel's order. An error of `visit` ends the walk. `directory` may be O_PATH, and
/// its offset does not change. The entries are not collected in memory, however many there are.
Result<void> for_each_entry(
    Fd directory, const std::function<Result<void>(const char* name, unsigned char type)>& visit);

}  // namespace ocirun::linux
