#pragma once

#include <sys/statvfs.h>

#include <cstdint>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// The flags of a mount that are compared.
inline constexpr std::uint64_t kComparedFlags = ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC;

/// Checks that the mount of `file` has all of `wanted`, which are some of kComparedFlags. Errors:
/// "PATH lacks nosuid, nodev".
Result<void> check_mount_flags(Fd file, std::uint64_t wanted, std::string_view path);

}  // namespace ocirun::runtime
