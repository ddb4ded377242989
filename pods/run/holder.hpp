#pragma once

#include <string>

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
/// holder outlives its parent.
Result<linux::ProcessIdentity> start_holder(const Sharing& sharing, const std::string& hostname);

/// The paths of the holder's namespaces, for config.json. Without a network of the pod's own,
/// `network` is the path of another one, or "" for the host's.
SharedNamespaces shared_namespaces(const linux::ProcessIdentity& holder, const Sharing& sharing,
                                   const std::string& network);

}  // namespace ocirun::pods
