#pragma once

#include <fmt/core.h>

#include <functional>
#include <string>
#include <string_view>

#include "linux/process/pidfd.hpp"
#include "pods/prepare/plan/bundle.hpp"

namespace ocirun::pods {

/// Which namespaces the containers of a pod share. They always share ipc and uts.
struct Sharing {
  bool own_network = true;
  bool pids = false;
};

/// Starts the holder, a process that keeps the shared namespaces of a pod. It runs a sealed copy of
/// the program ocirun-hold. Sets the loopback device up, and the host name to `hostname`. A
/// container may see the holder. Therefore the holder has no capabilities, cannot gain privileges,
/// and has an empty root, which is mounted on the directory `place` in a mount namespace of its
/// own. The holder outlives its parent: `record` is called before it can.
Result<linux::ProcessIdentity> start_holder(
    const Sharing& sharing, const std::string& hostname, const std::string& place,
    const std::function<Result<void>(const linux::ProcessIdentity&)>& record);

/// The paths of the holder's namespaces, for config.json. If the pod has no network of its own,
/// `network` is the path of the network namespace that it uses, "" for the host's.
SharedNamespaces shared_namespaces(const linux::ProcessIdentity& holder, const Sharing& sharing,
                                   const std::string& network);

/// The path on the host of a namespace of the process `pid` (0: the caller). `type` is "net", "mnt"
/// …
inline std::string namespace_path(int pid, std::string_view type) {
  if (pid == 0) return fmt::format("/proc/self/ns/{}", type);
  return fmt::format("/proc/{}/ns/{}", pid, type);
}

}  // namespace ocirun::pods
