#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// Replaces `name` in `directory` as one step: readers see the old file or the new one, whole.
/// Every write is checked; on an error the old file stays and nothing new is left.
Result<void> replace_file(Fd directory, const std::string& name, std::string_view content,
                          mode_t mode);
/// The directory that `path` is in. Errors: EISDIR when it names no file.
Result<UniqueFd> open_parent(const HostPath& path);
/// The same by path; a relative one is relative to the caller's working directory.
Result<void> replace_file(const HostPath& path, std::string_view content, mode_t mode);

/// Reads a regular file of at most `limit` bytes; anything else in its place is an error, never a
/// wait. `flags`: more of open(2)'s, such as O_NOFOLLOW.
Result<std::string> read_file(Fd directory, const std::string& name, std::size_t limit,
                              int flags = 0);

/// Writes everything to a descriptor, however many write(2) it takes.
Result<void> write_all(Fd fd, std::string_view data);

}  // namespace ocirun::linux
