#pragma once

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// Loads a filter that ends ocirun-metadata at any system call but those that answering connections
/// takes: it makes no connection of its own. The process must have no_new_privs.
Result<void> allow_service_calls();

}  // namespace ocirun::pods
