#pragma once

#include <cstdint>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// Opens a directory (O_RDONLY), following only symlinks that belong to root or to the caller,
/// because the owner of a symlink chooses where it leads. Errors: those of open(2); a symlink of
/// another user, named with its owner.
Result<UniqueFd> open_by_own_links(const std::string& path);

/// The user who controls the content of `directory`: its owner, or on a FUSE filesystem the user
/// who serves it, because that user can report any owner.
Result<std::uint32_t> owner_of(Fd directory);

}  // namespace ocirun::linux
