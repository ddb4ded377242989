#pragma once

#include <string>

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// Takes from the calling process all capabilities, those too that executing a program as root
/// would give, and the way to get any by a set-user-id program.
Result<void> give_up_privileges();

/// Mounts an empty read-only file system on the directory `place`, and makes it the root of the
/// calling process, which must have a mount namespace of its own.
Result<void> enter_empty_root(const std::string& place);

}  // namespace ocirun::pods
