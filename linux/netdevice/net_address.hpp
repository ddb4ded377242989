#pragma once

#include <linux/if_addr.h>

#include <cstdint>
#include <optional>
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

/// An address as one word of a journal line: "2/24/0/128/77656230/2=0a090002", which is family,
/// prefix length, scope, flags, label and attributes. Label and attribute values are bytes in
/// hexadecimal.
std::string net_address_text(const NetAddress& address);
/// Parses a text of net_address_text(). Nothing for any other text, and for an address that does
/// not fit into a request to the kernel.
std::optional<NetAddress> parse_net_address(std::string_view text);

}  // namespace ocirun::linux
