#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "cgroups/container/cgroup.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "cgroups/open_cgroup.hpp"
#include "cgroups/plan/resources.hpp"
#include "linux/base/error.hpp"
#include "linux/mounts/mount.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/options.hpp"

namespace ocirun::runtime {

/// Whether a container may go without cgroup where the caller may not make one:
/// --rootless=true, or --rootless=auto and a caller who is not the host's root.
bool is_lenient(const GlobalOptions& options);

/// Chooses the path of the container's cgroup. For an ordinary user, a default or relative path
/// lies in the cgroup of the unified hierarchy that is delegated to that user: beside the caller's
/// own cgroup, or else below it.
Result<cgroups::Placement> choose_placement(const cgroups::Layout& layout,
                                            const std::optional<std::string>& cgroups_path,
                                            const std::string& id);

/// Plans a container's cgroup, for systemd or for cgroupfs, without making it.
Result<std::unique_ptr<cgroups::Cgroup>> plan_cgroup(const GlobalOptions& options,
                                                     const cgroups::Layout& layout,
                                                     const bundle::Config& config,
                                                     const std::string& id);

/// The warning that a cgroupsPath has systemd's form, slice:prefix:name, while `manager` takes it
/// for a path. Nothing if `manager` is not cgroupfs, or the cgroupsPath has another form.
std::optional<std::string> doubt_cgroups_path(const std::optional<std::string>& cgroups_path,
                                              CgroupManager manager);

/// The fields of /linux/resources that ask for a limit or a rule, as JSON pointers. Values that
/// mean "no limit" are left out.
std::vector<std::string> asked_limits(const std::optional<cgroups::Resources>& resources);

/// The reason why there is no cgroup. kNoHierarchy: no cgroup filesystem is mounted. kRefused:
/// Cgroup::create() failed, and the errno of its error gives the reason.
enum class Obstacle { kNoHierarchy, kRefused };

/// Called when the container's cgroup could not be made, because of `cause`. On success the
/// container runs without a cgroup of its own; on an error it does not run. Succeeds in two cases:
///  * The caller may go without limits (is_lenient()), and the host has no cgroup filesystem that
///    can be written (kNoHierarchy, EROFS), or the caller may not write there (EACCES, EPERM).
///  * The host has no cgroup filesystem that can be written, the document asks for no limit, which
///    would be lost, and --rootless=false was not given.
/// On success the log gets a warning with the limits that have no effect. If there are no such
/// limits, the message that there is no cgroup is a warning for root, and for others a debug
/// message. Errors: `cause` with advice. A transient cause (EMFILE; see is_transient()) is always
/// an error, because it says nothing about cgroups.
Result<void> go_without_cgroup(const GlobalOptions& options,
                               const std::optional<cgroups::Resources>& resources,
                               Obstacle obstacle, Error cause, const Log& log);

/// The place of a container among the host's cgroups.
struct Place {
  cgroups::Layout layout;  // without hierarchies: no cgroup filesystem is mounted
  std::unique_ptr<cgroups::Cgroup> cgroup = cgroups::disabled_cgroup();
};

/// Reads the host's cgroups and plans the cgroup of the container, without making it. Warns of
/// resources that --cgroup-manager disabled ignores, and as doubt_cgroups_path() does. Without a
/// cgroup filesystem, go_without_cgroup() decides. `log` has to outlive the cgroup.
Result<Place> choose_place(const GlobalOptions& options, const bundle::Config& config,
                           const std::string& id, const Log& log);

/// The container's directory in each cgroup hierarchy, for mounts of type cgroup (M-12).
std::vector<linux::CgroupHierarchy> describe_hierarchies(const cgroups::Layout& layout,
                                                         const cgroups::Record& record);

}  // namespace ocirun::runtime
