#pragma once

#include <optional>
#include <string>

#include "cgroups/hierarchies/layout.hpp"

namespace ocirun::cgroups {

/// The caller's own cgroup as a path below the mount point of the hierarchy; "" for the cgroup that
/// is mounted there.
std::string shown_path(const Hierarchy& hierarchy);

/// The cgroup below which a caller who is not the host's root may make others, because it is
/// delegated to the caller (cgroups(7)): the parent of the caller's cgroup, or the caller's own. A
/// path below the mount point of the only hierarchy. Nothing where the host has other hierarchies
/// than that of v2, or nothing is delegated.
std::optional<std::string> delegated_cgroup(const Layout& layout);

}  // namespace ocirun::cgroups
