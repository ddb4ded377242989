#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// The file of a state directory onto which a container's network namespace is mounted while its
/// create may still be killed: a virtual device that was moved in would die with the namespace.
inline constexpr char kNetworkPin[] = "netns";

enum class PinOutcome { kPinned, kNotPermitted };

/// Mounts `network_namespace` there (L-29). kNotPermitted: a caller who may not mount, who is root
/// of a user namespace without a mount namespace of its own, say.
Result<PinOutcome> pin_network(Fd directory, Fd network_namespace);
/// The namespace that is mounted there; an empty descriptor without such a file. Errors: it is not
/// mounted in the caller's mount namespace.
Result<UniqueFd> pinned_network(Fd directory);
/// Unmounts it and removes the file. Missing is no error; whatever else is mounted there stays.
Result<void> unpin_network(Fd directory);

}  // namespace ocirun::runtime
