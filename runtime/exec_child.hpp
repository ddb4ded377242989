#pragma once

#include <optional>
#include <vector>

#include "bundle/config.hpp"
#include "cgroups/cgroup.hpp"
#include "linux/message_socket.hpp"
#include "linux/namespaces.hpp"
#include "linux/seccomp.hpp"
#include "runtime/exec.hpp"

namespace ocirun::runtime {

/// What a process on its way into a container needs, made by the parent before the clone.
struct ExecPlan {
  const bundle::Config& config;
  const ExecRequest& request;
  std::vector<linux::PinnedNamespace> pinned;  // of the container's init
  cgroups::Cgroup::JoinHandles cgroup;         // which the stage joins
  // Joined by the process alone, where there is no room for the stage beside it.
  std::optional<cgroups::Cgroup::JoinHandles> late_cgroup;
  std::optional<linux::SeccompFilter> filter;
  std::optional<HostPath>
      host_root;  // the rootfs to change to, where the container has no mount namespace
  bool new_keyring = true;
};

/// The stage: cgroups, then namespaces – the mount namespace before the fork into the pid
/// namespace, so that nobody in there finds the host behind /proc/PID/cwd of the new process
/// (CVE-2016-9962) – then the process itself as a sibling.
[[noreturn]] void exec_stage_main(const ExecPlan& plan, linux::MessageSocket parent) noexcept;

}  // namespace ocirun::runtime
