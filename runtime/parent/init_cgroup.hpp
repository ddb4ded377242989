#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bundle/config/config.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Opens the cgroup that a container's init is in, for a process of `exec` to join. A container
/// that enables controllers for cgroups of its own has moved its processes down, and no process may
/// join its topmost cgroup any more (cgroup-v2: no internal processes). `container` is that topmost
/// cgroup, as Cgroup::open_for_join() opens it. Error: init is not below `container`.
Result<UniqueFd> open_cgroup_of_init(Fd container, int init);

/// Whether `error` is the errno of a cgroup that no process may join: controllers are enabled for
/// its children (EBUSY), or it lies in an invalid threaded subtree (EOPNOTSUPP).
bool has_no_room_for_processes(int error);

/// The unified cgroup in `text`, the content of /proc/PID/cgroup, as a path below `container`:
/// "a/b". Nothing where that cgroup is `container` itself or not below it.
std::optional<std::string> path_below(std::string_view text, std::string_view container);

/// Gives the container's cgroup to the container, if the host mounts the unified hierarchy
/// alone, the container has a cgroup namespace of its own, and config.json mounts cgroup writable
/// at /sys/fs/cgroup. The new owner of the directory, and of the files in it that
/// /sys/kernel/cgroup/delegate lists, is the host's user that the container's process runs as. The
/// files of limits keep their owner. `cgroup` is the open directory. Errors: the user is not
/// mapped; the kernel refuses (EPERM).
Result<void> delegate_cgroup(const bundle::Config& config, const cgroups::Layout& layout,
                             Fd cgroup);

}  // namespace ocirun::runtime
