#pragma once

#include <optional>
#include <vector>

#include "bundle/config/config.hpp"
#include "cgroups/container/cgroup.hpp"
#include "linux/base/paths.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/seccomp/filter.hpp"
#include "runtime/base/options.hpp"

namespace ocirun::runtime {

/// What the stage and the process of an `exec` need. The parent fills it in before the clone; both
/// read their own copy of the parent's memory.
struct ExecPlan {
  const bundle::Config& config;
  const bundle::Process& process;
  const Inheritance& inheritance;
  std::vector<linux::PinnedNamespace> pinned;  // to be joined: those of init
  cgroups::Cgroup::JoinHandles cgroup;         // joined by the stage
  // Instead of `cgroup`, and joined by the process alone: pids.max has no room for the stage too.
  std::optional<cgroups::Cgroup::JoinHandles> late_cgroup;
  std::optional<linux::SeccompFilter> filter;
  std::optional<HostPath> host_root;  // the new root, for a container without mount namespace
  bool new_keyring = true;
};

}  // namespace ocirun::runtime
