#pragma once

#include <string>

#include "linux/base/error.hpp"
#include "linux/process/pidfd.hpp"
#include "pods/run/networks/subnet.hpp"

namespace ocirun::pods {

/// The name of the device by which a pod is in a network of pods.
inline constexpr const char* kMemberDevice = "ocirun0";

/// The path of the program ip, which makes the devices. Errors: it is not installed.
Result<std::string> find_ip_program();

/// Makes the bridge of a network of pods. The process `holder` keeps the network's own namespace,
/// in which the bridge is.
Result<void> make_bridge(const linux::ProcessIdentity& holder);

/// Connects the network namespace of the process `pod` with the bridge in that of `holder`: makes
/// a pair of devices, whose end in the pod has the addresses of the member `number`. Replaces an
/// earlier pair of this number. The pod takes no routes from other members.
Result<void> connect_to_bridge(const linux::ProcessIdentity& holder,
                               const linux::ProcessIdentity& pod, const Subnet& subnet, int number);

}  // namespace ocirun::pods
