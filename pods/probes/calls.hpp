#pragma once

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// Loads a filter that ends ocirun-probe at any system call but those that connections to IP
/// addresses take. Opening a file is answered with ENOENT. The process must have no_new_privs.
Result<void> allow_probe_calls();

}  // namespace ocirun::pods
