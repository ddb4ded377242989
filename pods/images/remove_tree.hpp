#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::pods {

/// Removes everything in `directory`, however deep, with a constant number of descriptors and in a
/// time that grows with the number of entries alone. No symlink is followed. `directory` may be
/// O_PATH; nobody else may change it meanwhile.
Result<void> remove_content(Fd directory);

/// Removes the entry `name` of `directory` and, if it is a directory, everything in it. That it is
/// absent is no error.
Result<void> remove_tree(Fd directory, const char* name);

}  // namespace ocirun::pods
