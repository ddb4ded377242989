#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Where a container's init is now, for `exec` to follow it. A container that hands controllers
/// down to cgroups of its own has left its topmost one, and no process may join that any more
/// (cgroup-v2: no internal processes). `container` is that topmost one, as
/// Cgroup::open_for_join() opens it. Errors: init is not below it.
Result<UniqueFd> open_cgroup_of_init(Fd container, int init);

/// The errno of a cgroup that no process may join: its children have its controllers (EBUSY), or it
/// is, or belongs to, the root of a threaded subtree that is invalid (EOPNOTSUPP).
bool has_no_room_for_processes(int error);

/// The path below `container` of the unified cgroup that /proc/PID/cgroup (`text`) names: "a/b".
/// Nothing if it is `container` itself or elsewhere.
std::optional<std::string> path_below(std::string_view text, std::string_view container);

}  // namespace ocirun::runtime
