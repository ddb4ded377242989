#pragma once

#include <fmt/core.h>

#include <functional>
#include <string>
#include <string_view>

#include "linux/process/pidfd.hpp"
#include "pods/plan/bundle.hpp"

namespace ocirun::pods {

/// Which namespaces the containers of a pod share, but for ipc and uts, which they always share.
struct Sharing {
  bool own_network = true;
  bool pids = false;
};

/// Starts the process that keeps the shared namespaces of a pod: a sealed copy of the program
/// ocirun-hold. The loopback device of the network is up, and the host name is `hostname`. The
/// holder outlives its parent. A container may see the holder: it has no capabilities, no
/// privileges to gain and an empty root, which is mounted on the directory `place` in a mount
/// namespace of its own. `record` is called before the holder can outlive the caller.
Result<linux::ProcessIdentity> start_holder(
    const Sharing& sharing, const std::string& hostname, const std::string& place,
    const std::function<Result<void>(const linux::ProcessIdentity&)>& record);

/// The paths of the holder's namespaces, for config.json. Without a network of the pod's own,
/// `network` is the path of another one, or "" for the host's.
SharedNamespaces shared_namespaces(const linux::ProcessIdentity& holder, const Sharing& sharing,
                                   const std::string& network);

/// The path of a namespace of the process `pid` (0: the caller) on the host; `type`: "net", "mnt" …
inline std::string namespace_path(int pid, std::string_view type) {
  if (pid == 0) return fmt::format("/proc/self/ns/{}", type);
  return fmt::format("/proc/{}/ns/{}", pid, type);
}

}  // namespace ocirun::pods
