#pragma once

#include <cstdint>

namespace ocirun::linux {

/// Whether a filesystem of this magic (statfs(2)) has files that are doors to the kernel and to
/// processes: proc, sysfs, cgroup … To read or write them with the caller's rights would give a
/// container, which can put a symlink to them on the way, more than it has itself.
bool is_kernel_filesystem(std::uint64_t magic);

}  // namespace ocirun::linux
