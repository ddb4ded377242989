#pragma once

#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/network/netlink.hpp"
#include "runtime/base/log.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

// linux.netDevices (L-29), so that a create which fails or is killed at any point loses none. The
// state directory has, from before the first device moves until the container can live without its
// creator, the namespace (`netns`, net_pin.hpp) and what has happened (`netdevices`,
// linux/netdevice/journal.hpp).

/// Moves `devices` of the host into `network_namespace`. Errors: of the first one that cannot be
/// moved; return_net_devices takes back what was.
Result<void> move_net_devices(const StateDirectory& directory,
                              const std::vector<linux::NetDevice>& devices, Fd network_namespace,
                              const Log& log);

/// Undoes that, also half-way and again. `network_namespace` is the container's, or -1 for the one
/// that is kept in the directory. A device that is nowhere any more is a warning. Errors: a device
/// that cannot be brought back; all that a repetition needs is then still there.
Result<void> return_net_devices(const StateDirectory& directory, Fd network_namespace,
                                const Log& log);

/// The same for `delete`, of a container that was never started: where it was, its devices are its
/// own affair.
Result<void> return_devices_of_unstarted(const StateDirectory& directory, const Log& log);

/// The devices stay where they are: removes the journal and the mount.
Result<void> forget_net_devices(const StateDirectory& directory);

}  // namespace ocirun::runtime
