#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/netdevice/journal.hpp"
#include "linux/network/netlink.hpp"

namespace ocirun::linux {

/// Moves one device of the caller's network namespace into `target` (L-29), renames it, puts its
/// permanent global addresses back (IFA_F_PERMANENT, RT_SCOPE_UNIVERSE) and sets it up. Returns the
/// name it got. After an error it is wherever the step that failed has left it, as after SIGKILL:
/// return_net_devices brings it back.
Result<std::string> move_net_device(const NetDevice& device, Fd target, const Journal& journal);

/// Brings the devices that `journal` tells of back from `source` (nothing: a namespace that is
/// gone) to the caller's network namespace, the last one first: with the name and the addresses
/// that they had, up if they were. Who never left or is back stays as it is. After each of the
/// others `after_each` is called. Returns the names of those that are neither there nor here any
/// more. Errors: the first of them; the others are back all the same.
Result<std::vector<std::string>> return_net_devices(std::optional<Fd> source,
                                                    const Journal& journal,
                                                    const std::function<void()>& after_each);

}  // namespace ocirun::linux
