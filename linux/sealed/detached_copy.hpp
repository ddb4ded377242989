#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// Writes `size` bytes from the beginning of `from` to `to`. Errors: EIO if `from` is shorter.
Result<void> copy_content(Fd from, Fd to, std::size_t size);

/// A copy of the program behind `executable` in a tmpfs that has nothing else, is read-only and is
/// mounted nowhere, for fexecve(3). Nobody can write to the copy, not even root of the host: the
/// superblock is read-only, and only a descriptor of its root directory could change that. No
/// sysctl and no mount option of the host keeps the copy from being executed. A caller without
/// CAP_SYS_ADMIN has the tmpfs made by a child in a user namespace. Errors: the caller may neither
/// mount nor make a user namespace, no memory is left.
Result<UniqueFd> copy_to_detached_tmpfs(Fd executable);

}  // namespace ocirun::linux
