#pragma once

#include <optional>
#include <vector>

#include "bundle/config/config.hpp"
#include "cgroups/container/cgroup.hpp"
#include "linux/base/paths.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/seccomp/filter.hpp"
#include "runtime/base/inheritance.hpp"

namespace ocirun::runtime {

/// What a process on its way into a container needs, made by the parent before the clone.
struct ExecPlan {
  const bundle::Config& config;
  const bundle::Process& process;
  const Inheritance& inheritance;
  std::vector<linux::PinnedNamespace> pinned;  // of the container's init
  cgroups::Cgroup::JoinHandles cgroup;         // which the stage joins
  // Joined by the process alone, where there is no room for the stage beside it.
  std::optional<cgroups::Cgroup::JoinHandles> late_cgroup;
  std::optional<linux::SeccompFilter> filter;
  std::optional<HostPath>
      host_root;  // the rootfs to change to, where the container has no mount namespace
  bool new_keyring = true;
};

}  // namespace ocirun::runtime
