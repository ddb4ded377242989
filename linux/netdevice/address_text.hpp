#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "linux/netdevice/net_address.hpp"

namespace ocirun::linux {

/// An address as one word of a journal: "2/24/0/128/77656230/2=0a090002", which is its family,
/// prefix length, scope, flags, label and attributes, what is bytes in hexadecimal.
std::string net_address_text(const NetAddress& address);
/// And back. Nothing for what is no such text, or no address that a request to the kernel has room
/// for.
std::optional<NetAddress> parse_net_address(std::string_view text);

}  // namespace ocirun::linux
