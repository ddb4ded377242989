#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/error.hpp"
#include "linux/unique_fd.hpp"

namespace ocirun::linux {

/// linux.netDevices (L-29): a host device that moves into the container's network namespace.
struct NetDevice {
  std::string host_name;
  std::string container_name;  // the same as host_name when `name` is absent; may hold one "%d"
};

/// 1 to 15 bytes, not "." or "..", no "/", ":" or white space, and "%" only in one "%d" (a
/// template, for which the kernel finds a free number).
bool is_valid_interface_name(std::string_view name);

/// Sets `lo` of the calling thread's network namespace up (L-8).
Result<void> bring_loopback_up();

/// Moves one device of the caller's network namespace into `target`, renames it, puts its permanent
/// global addresses back (IFA_F_PERMANENT, RT_SCOPE_UNIVERSE) and sets it up. On an error
/// the device is where it was: name, addresses, up or down. Returns the name it got.
Result<std::string> move_net_device(const NetDevice& device, Fd target);
/// Moves `name` from the network namespace `source` back to the caller's, as `host_name`: undo of a
/// failed create.
Result<void> return_net_device(std::string_view name, std::string_view host_name, Fd source);

}  // namespace ocirun::linux
