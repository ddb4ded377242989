#pragma once

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// Leaves the caller's session keyring for a new one that only its possessors may use. The keyring
/// is anonymous: keyctl(2) looks a name up first, so another container of the same uid could plant
/// a keyring that ours would join. A kernel without keyrings (ENOSYS) is no error. Errors: EDQUOT.
Result<void> join_session_keyring();

}  // namespace ocirun::linux
