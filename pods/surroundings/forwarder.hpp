#pragma once

#include <functional>
#include <string>
#include <vector>

#include "linux/process/pidfd.hpp"
#include "pods/documents/pod.hpp"

namespace ocirun::pods {

/// A port of the host that leads to a port of the pod.
struct Forward {
  std::string address;  // "": all addresses of the host
  std::uint16_t host_port = 0, pod_port = 0;
  Protocol protocol = Protocol::kTcp;
  friend bool operator==(const Forward&, const Forward&) = default;
};

/// The ports of a pod that the host answers on: those that the document maps (App Container), else
/// each port of a container at the same number. Errors: two containers have the same port.
Result<std::vector<Forward>> forwards_of(const Pod& pod);

/// Starts pasta, which connects the network namespace of the process `holder` with the host's
/// network: the pod reaches what the host reaches, and the host's ports lead to the pod's. `pin` is
/// the path of an empty file on which the namespace is mounted. pasta outlives its parent; `record`
/// is called before it runs. Errors: a port of the host is in use …; pasta's own words.
Result<void> start_forwarder(
    const std::string& pasta, const std::vector<Forward>& forwards,
    const linux::ProcessIdentity& holder, const std::string& pin,
    const std::function<Result<void>(const linux::ProcessIdentity&)>& record);

}  // namespace ocirun::pods
