#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// The addresses of a network of pods: 10.89.`third`.0/24, and the unique local prefix
/// fd00::/8 with the 40 bits `global_id` (RFC 4193).
struct Subnet {
  std::uint8_t third = 0;
  std::uint64_t global_id = 0;

  /// The addresses of a member. `number`: 2 to 254.
  std::string ipv4(int number) const;
  std::string ipv6(int number) const;
  /// The hardware address of a member, which depends only on the subnet and `number`. So the
  /// neighbour caches of other members stay valid when another pod gets the number.
  std::string mac(int number) const;
};

/// The numbers of members. 1 stays free for a router.
inline constexpr int kFirstMember = 2, kLastMember = 254;

/// Chooses the third byte of 10.89.x.0/24: the first number from `start` on whose addresses no
/// route of the host has, except for a default route. `routes` is the text of /proc/net/route.
/// Errors: all 256 are taken.
Result<std::uint8_t> free_subnet(std::string_view routes, std::uint8_t start);

/// Makes a subnet for the network `name` that the host has no route to.
Result<Subnet> make_subnet(std::string_view name);

}  // namespace ocirun::pods
