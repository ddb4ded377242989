#pragma once

#include "linux/base/error.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::linux {

/// A mount of type "cgroup" (M-12). Pure v2: the container's cgroup2, or a bind of its directory
/// where it has no cgroup namespace or may not mount one. v1 and hybrid: a tmpfs with one mount per
/// hierarchy and a symlink per co-mounted controller; read-only in the end if `ro` was asked.
Result<UniqueFd> place_cgroups(const MountContext& context, const Mount& mount,
                               const MountPoint& point);

}  // namespace ocirun::linux
