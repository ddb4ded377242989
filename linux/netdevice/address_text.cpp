#include "linux/netdevice/address_text.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cstdint>

#include "linux/base/text.hpp"

namespace ocirun::linux {
namespace {

constexpr std::size_t kMostAttributes = 16;  // the kernel has a dozen kinds
constexpr std::size_t kMostBytes = 32;       // of one attribute; an address has 16

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::optional<std::string> bytes_of(std::string_view hex) {
  if (hex.size() % 2 != 0 || hex.size() > 2 * kMostBytes) return std::nullopt;
  std::string bytes;
  for (; !hex.empty(); hex.remove_prefix(2)) {
    unsigned char byte = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + 2, byte, 16);
    if (error != std::errc{} || end != hex.data() + 2) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

// Whether an address has the length of its family: later code reads that many bytes.
bool is_whole(int family, std::uint16_t type, std::string_view bytes) {
  if (type != IFA_ADDRESS && type != IFA_LOCAL) return true;
  return (family != AF_INET || bytes.size() == sizeof(in_addr)) &&
         (family != AF_INET6 || bytes.size() == sizeof(in6_addr));
}

bool read_attribute(std::string_view text, NetAddress& address) {
  const auto type = number<std::uint16_t>(cut(text, '='));
  auto bytes = bytes_of(text);
  if (!type || !bytes || !is_whole(address.fixed.ifa_family, *type, *bytes)) return false;
  address.attributes.emplace_back(*type, *std::move(bytes));
  return address.attributes.size() <= kMostAttributes;
}

}  // namespace

std::string net_address_text(const NetAddress& address) {
  std::string text =
      fmt::format("{}/{}/{}/{}/{}", address.fixed.ifa_family, address.fixed.ifa_prefixlen,
                  address.fixed.ifa_scope, address.flags, hex_of(address.label));
  for (const auto& [type, bytes] : address.attributes)
    text += fmt::format("/{}={}", type, hex_of(bytes));
  return text;
}

std::optional<NetAddress> parse_net_address(std::string_view text) {
  const auto family = number<std::uint8_t>(cut(text, '/'));
  const auto length = number<std::uint8_t>(cut(text, '/'));
  const auto scope = number<std::uint8_t>(cut(text, '/'));
  const auto flags = number<std::uint32_t>(cut(text, '/'));
  auto label = bytes_of(cut(text, '/'));
  if (!family || !length || !scope || !flags || !label) return std::nullopt;
  NetAddress address;
  address.fixed.ifa_family = *family;
  address.fixed.ifa_prefixlen = *length;
  address.fixed.ifa_scope = *scope;
  address.flags = *flags;
  address.label = *std::move(label);
  while (!text.empty())
    if (!read_attribute(cut(text, '/'), address)) return std::nullopt;
  return address;
}

}  // namespace ocirun::linux
