#pragma once

#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/network/interfaces.hpp"
#include "runtime/base/log.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

// linux.netDevices (L-29). A `create` that fails or is killed at any point loses no device: from
// before the first move until init no longer dies with its parent, the state directory holds the
// network namespace (`netns`, net_pin.hpp) and a journal of the moves (`netdevices`,
// linux/netdevice/journal.hpp).

/// Moves `devices` of the host into `network_namespace`. Error: that of the first device that
/// cannot be moved. return_net_devices() then moves the others back.
Result<void> move_net_devices(const StateDirectory& directory,
                              const std::vector<linux::NetDevice>& devices, Fd network_namespace,
                              const Log& log);

/// Moves the devices of the journal back to the host, also those of an interrupted move, and may be
/// repeated. `network_namespace` is the container's, or -1 for the one that the state directory
/// holds. A device that no longer exists is a warning. Error: a device cannot be moved back; the
/// journal then stays for a repetition.
Result<void> return_net_devices(const StateDirectory& directory, Fd network_namespace,
                                const Log& log);

/// return_net_devices() for `delete`. Moves back the devices of a container that was never started,
/// or whose `create` was cut off. The devices of a started container belong to the container: then
/// only the journal and the pinned network namespace are removed.
Result<void> return_devices_of_unstarted(const StateDirectory& directory, const Log& log);

/// Leaves the devices where they are, and removes the journal and the pinned namespace.
Result<void> forget_net_devices(const StateDirectory& directory);

}  // namespace ocirun::runtime
