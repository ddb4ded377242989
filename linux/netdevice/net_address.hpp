#pragma once

#include <linux/if_addr.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/netdevice/netlink_socket.hpp"

namespace ocirun::linux {

/// An address of a network device, with everything needed to add it again.
struct NetAddress {
  ifaddrmsg fixed{};
  std::uint32_t flags = 0;  // IFA_F_*, those that a request may carry
  std::vector<std::pair<std::uint16_t, std::string>> attributes;
  std::string label;  // IPv4 only: the device's name, or that and ":suffix"
};

/// The permanent global addresses of device `index` (IFA_F_PERMANENT, RT_SCOPE_UNIVERSE) of all
/// families, in the order in which they must be added (L-29).
Result<std::vector<NetAddress>> permanent_addresses(const NetlinkSocket& socket, int index);

/// Adds `addresses` to device `index`. `old_name` is the name of the device when they were read.
Result<void> add_addresses(const NetlinkSocket& socket, int index,
                           const std::vector<NetAddress>& addresses, std::string_view old_name,
                           std::string_view new_name);

}  // namespace ocirun::linux
