#pragma once

#include <string>
#include <string_view>

#include "linux/error.hpp"
#include "linux/netlink.hpp"
#include "linux/unique_fd.hpp"

namespace ocirun::linux {

/// Moves one device of the caller's network namespace into `target`, renames it, puts its permanent
/// global addresses back (IFA_F_PERMANENT, RT_SCOPE_UNIVERSE) and sets it up. On an error
/// the device is where it was: name, addresses, up or down. Returns the name it got.
Result<std::string> move_net_device(const NetDevice& device, Fd target);
/// Moves `name` from the network namespace `source` back to the caller's, as `host_name`: undo of a
/// failed create.
Result<void> return_net_device(std::string_view name, std::string_view host_name, Fd source);

}  // namespace ocirun::linux
