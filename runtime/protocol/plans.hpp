#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
#include "cgroups/container/cgroup.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/process/pidfd.hpp"
#include "linux/seccomp/filter.hpp"
#include "runtime/base/options.hpp"

namespace ocirun::runtime {

/// The step at which a container's first process is, between two of its messages to the parent.
enum class InitStep : std::uint8_t {
  kAsInConversation,  // the last message tells enough
  kNames,
  kRoot,
  kMounts,
  kDevices,
  kHostHooks,
  kSysctls,
  kContainerHooks,
  kTerminal,
  kReadOnly,
  kChangeRoot,
  kMasks,
};

/// Memory that init writes and its parent reads, because an init that the kernel kills can send no
/// message. The memory is shared by the clone; execve takes it away from the program.
class StepBoard {
 public:
  /// Without memory for the board, activity() is always empty.
  StepBoard();

  /// `mount` and `destination`: for kMounts.
  void enter(InitStep step, int mount = 0, std::string_view destination = {}) const;
  /// "/mounts/2 was made", as in "died while …"; "" for kAsInConversation.
  std::string activity() const;

 private:
  struct Place {
    std::atomic<InitStep> step;
    std::atomic<int> mount;  // the index in config.json, for kMounts
  };
  struct Unmap {
    void operator()(Place* place) const;
  };
  std::unique_ptr<Place, Unmap> place_;
};

/// The value of NOTIFY_SOCKET in the container: the path at which the container finds the socket
/// notify.sock of its state directory.
inline constexpr char kNotifySocketInContainer[] = "/run/notify/notify.sock";

/// The data that a container's init needs. The parent fills in the plan before the clone. Init
/// reads its own copy of the parent's memory, so no part of the plan crosses a socket.
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
  // The mount namespace that init enters (linux/mounts/root_namespace.hpp). Empty: init starts in a
  // copy of the host's mount namespace.
  UniqueFd root_namespace = {};

  bool has_own_mount_tree() const {
    return config.namespaces.contains(linux::NamespaceKind::kMount);
  }
};

/// Whether one clone3 cannot make init: the container joins a user or pid namespace, makes or joins
/// a time namespace, makes a user namespace and joins any other, or has a mount label and makes a
/// user and an ipc namespace (root of the user namespace must own the ipc namespace).
bool needs_stage(const bundle::Config& config);

/// The namespaces of a running container, which another process joins.
struct ContainerNamespaces {
  linux::ProcessIdentity init;
  std::vector<linux::NamespaceKind> kinds;     // to be joined
  UniqueFd pidfd;                              // of init; empty if `pinned` holds the namespaces
  std::vector<linux::PinnedNamespace> pinned;  // empty if `pidfd` is open

  std::vector<Fd> descriptors() const {
    std::vector<Fd> list;
    if (pidfd) list.push_back(pidfd);
    for (const linux::PinnedNamespace& space : pinned) list.push_back(space.fd);
    return list;
  }
};

/// The data that the stage and the process of an `exec` need. The parent fills in the plan before
/// the clone. Both read their own copy of the parent's memory.
struct ExecPlan {
  const bundle::Config& config;
  const bundle::Process& process;
  const Inheritance& inheritance;
  ContainerNamespaces namespaces;
  cgroups::Cgroup::JoinHandles cgroup;  // joined by the stage
  // Instead of `cgroup`, and joined by the process alone: pids.max has no room for the stage too.
  std::optional<cgroups::Cgroup::JoinHandles> late_cgroup;
  std::optional<linux::SeccompFilter> filter;
  std::optional<HostPath> host_root;  // the new root, for a container without mount namespace
  std::optional<int> cookie_of;       // init, whose core scheduling cookie the stage takes
  bool new_keyring = true;
};

}  // namespace ocirun::runtime
