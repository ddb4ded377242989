#pragma once

#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::shim {

/// Makes the socket of a server, which listens and does not block. If a living server listens at
/// the absolute `path` already, returns no descriptor. A socket that a dead server has left is
/// replaced. The socket has mode 0600. Its directory is made with mode 0700 if it is missing. Of
/// two callers at once for one path, one gets the socket, and the other none. Errors: others than
/// the caller may write to the directory; the directory stays locked for ten seconds.
Result<UniqueFd> listen_or_find(const std::string& path);

/// Makes the calling process the listener of the socket of listen_or_find(), after a fork(2). The
/// server counts as dead when its listener has ended.
Result<void> listen_as_server(Fd socket);

/// Removes the socket at `path`, and the files of scratch_prefix(), unless a living server listens
/// at it: the server of a later caller may have taken the place.
Result<void> remove_dead_socket(const std::string& path);

/// How the paths of the files begin that the server of the socket `path` makes for a moment: the
/// socket's path with a shorter name.
std::string scratch_prefix(const std::string& path);

}  // namespace ocirun::shim
