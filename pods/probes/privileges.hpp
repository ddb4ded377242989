#pragma once

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// Takes from the calling process all capabilities, those too that executing a program as root
/// would give, and the way to get any by a set-user-id program.
Result<void> give_up_privileges();

}  // namespace ocirun::pods
