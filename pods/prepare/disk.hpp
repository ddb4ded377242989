#pragma once

#include <cstdint>
#include <string>

#include "linux/base/error.hpp"
#include "pods/prepare/site.hpp"

namespace ocirun::pods {

/// The smallest filesystem that mount_new_disk() makes, in bytes.
inline constexpr std::uint64_t kLeastDisk = std::uint64_t{1} << 20;

/// Makes an empty filesystem of `bytes` in the new file NAME.disk of `site`, mounts it on the
/// directory NAME of `site`, and returns its root directory. Who fills the filesystem meets ENOSPC.
/// The file takes as much space as has been written to the filesystem. Nothing but the file is left
/// when the mount is gone. Errors: the program mkfs.ext4 is not installed; the machine has no loop
/// devices; fewer than kLeastDisk bytes.
Result<UniqueFd> mount_new_disk(const Site& site, const std::string& name, std::uint64_t bytes);

}  // namespace ocirun::pods
