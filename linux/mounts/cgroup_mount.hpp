#pragma once

#include "linux/base/error.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::linux {

/// Makes a mount of type "cgroup" (M-12). Pure v2: a cgroup2 filesystem, or a bind of the
/// container's cgroup directory where the container has no cgroup namespace of its own or may not
/// mount cgroup2. v1 and hybrid: a tmpfs with one mount for each hierarchy and a symlink for each
/// co-mounted controller. The tmpfs becomes read-only at the end if `ro` was asked for.
Result<UniqueFd> place_cgroups(const MountContext& context, const Mount& mount,
                               const MountPoint& point);

}  // namespace ocirun::linux
