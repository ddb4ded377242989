#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "cgroups/container/cgroup.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "cgroups/hierarchies/placement.hpp"
#include "cgroups/plan/resources.hpp"
#include "linux/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/options.hpp"

namespace ocirun::runtime {

/// Whether what only the host's root may do is left out with a warning: --rootless=true, or auto
/// and the caller is not the host's root.
bool is_lenient(const GlobalOptions& options);

/// The caller's own cgroup below the mount point, which may show a part of the hierarchy only; ""
/// where that is the mount point itself.
std::string shown_path(const cgroups::Hierarchy& hierarchy);

/// Where the container's cgroup is to be. An ordinary user's default and relative ones lie in the
/// part of the unified hierarchy that was delegated to that user, where there is one: beside the
/// caller's own cgroup, else below it.
Result<cgroups::Placement> choose_placement(const cgroups::Layout& layout,
                                            const std::optional<std::string>& cgroups_path,
                                            const std::string& id);

/// The cgroup of a container, by systemd or without; nothing is made yet.
Result<std::unique_ptr<cgroups::Cgroup>> plan_cgroup(const GlobalOptions& options,
                                                     const cgroups::Layout& layout,
                                                     const bundle::Config& config,
                                                     const std::string& id);

/// The sentence about a cgroupsPath of systemd's form, slice:prefix:name, which `manager` takes for
/// a path; nothing where it is one, or where systemd is the manager.
std::optional<std::string> doubt_cgroups_path(const std::optional<std::string>& cgroups_path,
                                              CgroupManager manager);

/// Warns of what `manager` leaves out of the document (resources, with kDisabled) or may take
/// otherwise than it was meant (doubt_cgroups_path()).
void warn_of_manager(CgroupManager manager, const bundle::Config& config, const Log& log);

/// The fields of /linux/resources that ask for something, as JSON pointers; values that mean "no
/// limit" are left out.
std::vector<std::string> asked_limits(const std::optional<cgroups::Resources>& resources);

/// kNoHierarchy: no cgroup filesystem is mounted. kRefused: the kernel's number tells.
enum class Obstacle { kNoHierarchy, kRefused };

/// The container gets no cgroup of its own because of `cause` (none may be made, the cgroup
/// filesystem is read-only or not mounted). Succeeds where the container may run all the same: when
/// is_lenient(), or when nothing is asked of a cgroup that is not there. A warning names the limits
/// that have no effect; an ordinary user who asked for no limit finds it in the debug log alone.
/// Else the error names the field that would be lost. A shortage of the caller's (EMFILE) is an
/// error, as it says nothing about cgroups.
Result<void> go_without_cgroup(const GlobalOptions& options,
                               const std::optional<cgroups::Resources>& resources,
                               Obstacle obstacle, Error cause, const Log& log);

}  // namespace ocirun::runtime
