#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "linux/netdevice/net_address.hpp"

namespace ocirun::linux {

/// An address as one word of a journal line: "2/24/0/128/77656230/2=0a090002", which is family,
/// prefix length, scope, flags, label and attributes. Label and attribute values are bytes in
/// hexadecimal.
std::string net_address_text(const NetAddress& address);
/// Parses a text of net_address_text(). Nothing for any other text, and for an address that does
/// not fit into a request to the kernel.
std::optional<NetAddress> parse_net_address(std::string_view text);

}  // namespace ocirun::linux
