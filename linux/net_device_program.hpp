#pragma once

#include <string>
#include <string_view>

#include "linux/error.hpp"
#include "linux/netlink.hpp"
#include "linux/unique_fd.hpp"

namespace ocirun::linux {

// ocirun-netdevice VERB DEVICE NAME, the other network namespace at descriptor 3. Its stdout is the
// name that the device got (exit status 0), or an error's lines (1).
inline constexpr std::string_view kMoveVerb = "move";
inline constexpr std::string_view kReturnVerb = "return";
inline constexpr int kNetworkNamespaceDescriptor = 3;

/// Has ocirun-netdevice move one device of the caller's network namespace into `target` (L-29):
/// renamed, with its permanent global addresses, up. Returns the name it got. On an error the
/// device is where it was.
Result<std::string> request_device_move(const NetDevice& device, Fd target);
/// The undo of a failed create: `name` of the network namespace `source` comes back as `host_name`.
Result<void> request_device_return(std::string_view name, std::string_view host_name, Fd source);

}  // namespace ocirun::linux
