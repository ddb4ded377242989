#pragma once

#include <string>

#include "linux/error.hpp"

namespace ocirun::linux {

/// Joins a new session keyring named `name`, its permissions narrowed to the owner. A kernel
/// without keyrings (ENOSYS) is no error.
Result<void> join_session_keyring(const std::string& name);

}  // namespace ocirun::linux
