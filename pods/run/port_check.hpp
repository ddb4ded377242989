#pragma once

#include <functional>
#include <string>

#include "pods/documents/workload.hpp"
#include "pods/state/pod_directory.hpp"
#include "pods/surroundings/network.hpp"

namespace ocirun::pods {

/// To be called before anything is started: each port of the host that is to lead to the pod has to
/// be free. On the host's own network, where a program may listen at one address only, a port that
/// is taken is a warning. Errors: those of check_free(), with the place of the port; a pod of
/// `pods` that has it is named.
Result<void> check_ports(const Workload& workload, const NetworkPlan& network,
                         const PodsDirectory& pods,
                         const std::function<void(const std::string&)>& warn);

}  // namespace ocirun::pods
