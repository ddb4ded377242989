#pragma once

// Thin wrappers: system calls and constants that glibc 2.36 or Linux 6.1's headers lack, and the
// raw calls that take names. Each returns what the kernel returned as a Result; EINTR is retried
// where that is safe.

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "linux/error.hpp"
#include "linux/unique_fd.hpp"

namespace ocirun::linux::sys {

/// errno as an Error with one frame, `what`.
std::unexpected<Error> last_error(std::string_view what);

Result<UniqueFd> open(const char* path, int flags, mode_t mode = 0);
Result<UniqueFd> openat(Fd directory, const char* path, int flags, mode_t mode = 0);
Result<UniqueFd> openat2(Fd directory, const char* path, int flags, std::uint64_t resolve);

/// Reads a whole small file (to `limit` bytes; more is EFBIG).
Result<std::string> read_all(Fd fd, std::size_t limit);
/// One write(2) of everything; a short write is EIO.
Result<void> write_once(Fd fd, std::string_view data);

}  // namespace ocirun::linux::sys
