#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "cgroups/container/cgroup.hpp"
#include "linux/base/error.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "runtime/base/log.hpp"
#include "runtime/parent/create_request.hpp"

namespace ocirun::runtime {

/// The things found on the host for a container before any part of the container is made.
struct Preflight {
  UniqueFd console;                 // connected, when a console socket was given
  std::optional<HostPath> resctrl;  // its mount point, when intelRdt is asked for
};

/// Checks whether this host can run the container. Errors: an ordinary user's new namespaces
/// without a user namespace; a terminal without a console socket, or a console socket without a
/// terminal (P-2); a rootfs that is no directory (T-2); no resctrl (I-1); an LSM that this host
/// lacks (P-9, P-16); a pid file in a missing directory. Warns of capabilities that cannot be
/// granted (P-10) and of a mount label without SELinux (L-34).
Result<Preflight> check_host(const bundle::Config& config, const CreateRequest& request,
                             const Log& log);

/// Warns of the capabilities that `process` cannot be granted (P-10). Leaves out the capabilities
/// of `told`, an earlier process of the container, for which the warning was given already. Where a
/// process has no inheritable capabilities, its ambient ones go to the debug log (P-12).
Result<void> warn_of_capabilities(const bundle::Process& process,
                                  const linux::NamespaceSet& namespaces, const Log& log,
                                  const bundle::Process* told = nullptr);

/// Fills in the id map of a user namespace that is joined by path. Error: config.json has mappings
/// as well, as those of containerd and CRI-O do, and they differ (L-10).
Result<void> compare_joined_id_map(bundle::Config& config,
                                   const std::vector<linux::PinnedNamespace>& pinned);

/// Warns of each device that keeps the mode or owner of the host's node, because in a user
/// namespace the host's node is bound (L-24). To be called after compare_joined_id_map().
void warn_of_devices(const bundle::Config& config, const Log& log);

/// The container's directory in each cgroup hierarchy, for mounts of type cgroup (M-12).
std::vector<linux::CgroupHierarchy> describe_hierarchies(const cgroups::Layout& layout,
                                                         const cgroups::Record& record);

/// Adds the cause to an EACCES or EOVERFLOW of init: the root filesystem belongs to a user whom
/// /linux/uidMappings does not map, so that the container may create nothing in it. Other errors
/// are returned unchanged.
Error explain_unmapped_root(Error error, const bundle::Config& config);

}  // namespace ocirun::runtime
