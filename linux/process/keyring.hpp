#pragma once

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// Replaces the caller's session keyring by a new one, which only its possessors may use. The
/// keyring is anonymous: keyctl(2) first looks for an existing keyring of the given name, so
/// another container of the same uid could prepare a keyring that our container would join. A
/// kernel without keyrings (ENOSYS) is no error. Errors: EDQUOT.
Result<void> join_session_keyring();

}  // namespace ocirun::linux
