#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/netdevice/journal.hpp"
#include "linux/network/interfaces.hpp"

namespace ocirun::linux {

/// Moves one device of the caller's network namespace into `target` (L-29), renames it, adds its
/// permanent global addresses again (IFA_F_PERMANENT, RT_SCOPE_UNIVERSE) and sets it up. Returns
/// the new name. After an error or SIGKILL the device is wherever the last step left it;
/// return_net_devices() brings it back.
Result<std::string> move_net_device(const NetDevice& device, Fd target, const Journal& journal);

/// Brings the devices in `journal` back from `source` (nothing: the namespace is gone) to the
/// caller's network namespace, the last one first: with their old names and addresses, and up if
/// they were up. Skips devices that the journal marks as back, and leaves a device that never
/// left as it is. Calls `after_each` after each device that was not skipped, also after a failure.
/// Returns the names of the devices that are in neither namespace any more. Errors: that of the
/// first device that failed; the other devices are brought back all the same.
Result<std::vector<std::string>> return_net_devices(std::optional<Fd> source,
                                                    const Journal& journal,
                                                    const std::function<void()>& after_each);

}  // namespace ocirun::linux
