#pragma once

#include <cstdint>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// Opens a directory (O_RDONLY) through no symbolic link but root's and the caller's: whoever owns
/// a link chooses where it leads. Errors: open(2)'s; another's link is named with its owner.
Result<UniqueFd> open_by_own_links(const std::string& path);

/// Who can choose what is in it: its owner, or of a FUSE filesystem the user who serves it, who
/// tells what owners they like.
Result<std::uint32_t> owner_of(Fd directory);

}  // namespace ocirun::linux
