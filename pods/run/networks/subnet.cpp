#include "pods/run/networks/subnet.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <numeric>
#include <optional>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

constexpr std::uint32_t kBase = 10U << 24 | 89U << 16;  // 10.89.0.0
constexpr std::uint32_t kSubnetMask = 0xFFFFFF00;
constexpr int kSubnets = 256;

struct Route {
  std::uint32_t destination, mask;
};

/// An address of /proc/net/route: 8 hexadecimal digits, whose bytes have the order of the machine.
std::optional<std::uint32_t> parse_address(std::string_view text) {
  const auto value = linux::number<std::uint32_t>(text, 16);
  if (!value) return std::nullopt;
  return ntohl(*value);
}

/// The routes of /proc/net/route but default routes.
std::vector<Route> parse_routes(std::string_view text) {
  constexpr std::size_t kDestination = 1, kMask = 7;
  std::vector<Route> routes;
  for (const std::string_view line : linux::split(text, '\n')) {
    const auto words = linux::words(line, '\t');
    if (words.size() <= kMask) continue;
    const auto destination = parse_address(words[kDestination]);
    const auto mask = parse_address(words[kMask]);
    if (destination && mask && *mask != 0) routes.push_back({*destination, *mask});
  }
  return routes;
}

}  // namespace

std::string Subnet::ipv4(int number) const { return fmt::format("10.89.{}.{}", third, number); }

std::string Subnet::ipv6(int number) const {
  return fmt::format("fd{:02x}:{:04x}:{:04x}::{:x}", global_id >> 32 & 0xFF,
                     global_id >> 16 & 0xFFFF, global_id & 0xFFFF, number);
}

std::string Subnet::mac(int number) const {
  return fmt::format("02:6f:0a:59:{:02x}:{:02x}", third, number);
}

Result<std::uint8_t> free_subnet(std::string_view routes, std::uint8_t start) {
  const std::vector<Route> taken = parse_routes(routes);
  for (int i = 0; i < kSubnets; ++i) {
    const auto third = static_cast<std::uint8_t>(start + i);
    const std::uint32_t subnet = kBase | std::uint32_t{third} << 8;
    bool is_free = true;
    for (const auto& [destination, mask] : taken)
      is_free = is_free && ((destination ^ subnet) & mask & kSubnetMask) != 0;
    if (is_free) return third;
  }
  return refuse("the host has routes to all of 10.89.0.0/16, which networks of pods use");
}

Result<Subnet> make_subnet(std::string_view name) {
  constexpr std::size_t kMostRoutes = std::size_t{16} << 20;
  constexpr std::uint64_t kGlobalId = 0xFFFFFFFFFF;
  OCIRUN_TRY_ASSIGN(const UniqueFd file, linux::sys::open("/proc/net/route", O_RDONLY));
  OCIRUN_TRY_ASSIGN(const std::string routes, linux::sys::read_all(file, kMostRoutes));
  // The sum only makes it likely that networks of different names have different subnets.
  const auto start = std::accumulate(
      name.begin(), name.end(), std::uint8_t{0},
      [](std::uint8_t sum, char c) { return static_cast<std::uint8_t>(sum * 31 + c); });
  Subnet subnet;
  OCIRUN_TRY_ASSIGN(subnet.third, free_subnet(routes, start));
  if (::getrandom(&subnet.global_id, sizeof subnet.global_id, 0) != sizeof subnet.global_id)
    return fail(errno, "make a prefix of IPv6 addresses");
  subnet.global_id &= kGlobalId;
  return subnet;
}

}  // namespace ocirun::pods
