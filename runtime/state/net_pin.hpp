#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// The file of a state directory on which the container's network namespace is mounted until
/// `create` has committed. If `create` and init are killed before, the mount keeps the namespace
/// alive, and with it the virtual devices that were moved in; `delete --force` moves them back.
inline constexpr char kNetworkPin[] = "netns";

enum class PinOutcome { kPinned, kNotPermitted };

/// Mounts `network_namespace` on kNetworkPin of the state directory (L-29). kNotPermitted: the
/// caller may not mount, for example as root of a user namespace without its own mount namespace.
Result<PinOutcome> pin_network(Fd directory, Fd network_namespace);
/// Opens the namespace that is mounted on kNetworkPin; an empty descriptor if the file does not
/// exist. Errors: the file exists, but nothing is mounted on it in the caller's mount namespace.
Result<UniqueFd> pinned_network(Fd directory);
/// Unmounts the namespace and removes the file. No error if the file does not exist. A mount of
/// anything else than a namespace stays.
Result<void> unpin_network(Fd directory);

}  // namespace ocirun::runtime
