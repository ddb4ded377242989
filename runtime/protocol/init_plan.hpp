#pragma once

#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
#include "cgroups/container/cgroup.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "runtime/base/options.hpp"
#include "runtime/protocol/step.hpp"

namespace ocirun::runtime {

/// Where a container finds the socket for its service manager, in its NOTIFY_SOCKET.
inline constexpr char kNotifySocketInContainer[] = "/run/notify/notify.sock";

/// What a container's init needs. The parent fills it in before the clone; init reads its own copy
/// of the parent's memory, so that no part of the plan crosses a socket.
struct InitPlan {
  const bundle::Config& config;
  bundle::StateDocument state;                 // on the stdin of the hooks that init runs
  std::vector<linux::PinnedNamespace> pinned;  // to be joined
  cgroups::Cgroup::JoinHandles cgroup;
  std::vector<linux::CgroupHierarchy> cgroup_hierarchies;  // for mounts of type cgroup
  UniqueFd start_socket;
  Inheritance inheritance;
  bool pivot = true;  // false: --no-pivot
  bool new_keyring = true;
  StepBoard step = {};  // init writes, the parent reads

  bool has_own_mount_tree() const {
    return config.namespaces.contains(linux::NamespaceKind::kMount);
  }
};

/// Whether one clone3 cannot make init: the container joins a user or pid namespace, makes or joins
/// a time namespace, makes a user namespace and joins any other, or has a mount label and makes a
/// user and an ipc namespace (root of the user namespace must own the ipc namespace).
bool needs_stage(const bundle::Config& config);

}  // namespace ocirun::runtime
