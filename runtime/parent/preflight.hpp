#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "cgroups/container/cgroup.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "runtime/base/log.hpp"
#include "runtime/parent/create_request.hpp"

namespace ocirun::runtime {

/// What a container needs of the host, looked up before anything is made.
struct Preflight {
  UniqueFd console;                 // connected, when a console socket was given
  std::optional<HostPath> resctrl;  // its mount point, when intelRdt is asked for
};

/// Errors: a terminal without a console socket or the other way round (P-2), a rootfs that is no
/// directory (T-2), no resctrl (I-1), an LSM that this host lacks (P-9, P-16), a pid file's
/// directory that is missing. Warns of capabilities that cannot be granted (P-10) and of a mount
/// label without SELinux (L-34).
Result<Preflight> check_host(const bundle::Config& config, const CreateRequest& request,
                             const Log& log);

/// Warns of the capabilities that a process of the container cannot be granted (P-10), but for
/// those that `told`, an earlier process, was not granted either. Ambient capabilities of a process
/// that has no inheritable ones at all go to the debug log (P-12).
Result<void> warn_of_capabilities(const bundle::Process& process,
                                  const linux::NamespaceSet& namespaces, const Log& log,
                                  const bundle::Process* told = nullptr);

/// L-10: containerd and CRI-O give a user namespace's path and its mappings; they must be the same.
Result<void> compare_joined_id_map(bundle::Config& config,
                                   const std::vector<linux::PinnedNamespace>& pinned);

/// Warns of each device whose mode or owner the user namespace cannot give, because the node is the
/// host's own (L-24). Wants the id map that compare_joined_id_map() fills in.
void warn_of_devices(const bundle::Config& config, const Log& log);

/// The container's own directory in each hierarchy, for mounts of type cgroup (M-12).
std::vector<linux::CgroupHierarchy> describe_hierarchies(const cgroups::Layout& layout,
                                                         const cgroups::Record& record);

}  // namespace ocirun::runtime
