#include "linux/netdevice/net_address.hpp"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstdint>

#include "linux/base/text.hpp"

namespace ocirun::linux {
namespace {

constexpr int kTries = 8;

// The flags that a request sets. The kernel derives all other flags (permanent, tentative,
// secondary, deprecated ...).
constexpr std::uint32_t kGivenFlags = IFA_F_NODAD | IFA_F_OPTIMISTIC | IFA_F_HOMEADDRESS |
                                      IFA_F_MANAGETEMPADDR | IFA_F_NOPREFIXROUTE | IFA_F_MCAUTOJOIN;

bool is_kept(std::uint16_t attribute) {
  switch (attribute) {
    case IFA_ADDRESS:  // the peer, on a point-to-point device
    case IFA_LOCAL:
    case IFA_BROADCAST:
    case IFA_CACHEINFO:  // a preferred lifetime of 0 makes the address deprecated
    case IFA_RT_PRIORITY:
    case IFA_PROTO:
      return true;
    default:
      return false;
  }
}

void read_address(const nlmsghdr& answer, int index, std::vector<NetAddress>& addresses) {
  if (answer.nlmsg_type != RTM_NEWADDR || mnl_nlmsg_get_payload_len(&answer) < sizeof(ifaddrmsg))
    return;
  NetAddress address;
  address.fixed = *static_cast<const ifaddrmsg*>(mnl_nlmsg_get_payload(&answer));
  address.flags = address.fixed.ifa_flags;
  for_each_attribute(answer, sizeof(ifaddrmsg), [&](const nlattr& attribute) {
    const std::uint16_t type = mnl_attr_get_type(&attribute);
    if (type == IFA_FLAGS)  // all flags; the field in the header has only 8 bits
      address.flags = mnl_attr_get_u32(&attribute);
    else if (type == IFA_LABEL)
      address.label = mnl_attr_get_str(&attribute);
    else if (is_kept(type))
      address.attributes.emplace_back(
          type, std::string(static_cast<const char*>(mnl_attr_get_payload(&attribute)),
                            mnl_attr_get_payload_len(&attribute)));
  });
  if (static_cast<int>(address.fixed.ifa_index) == index &&
      address.fixed.ifa_scope == RT_SCOPE_UNIVERSE && (address.flags & IFA_F_PERMANENT))
    addresses.push_back(std::move(address));
}

// The label for the renamed device: "eth0:web" becomes "net1:web" if the device is now "net1". With
// "" the kernel takes the name of the device as the label.
std::string new_label(const NetAddress& address, std::string_view old_name,
                      std::string_view new_name) {
  const std::string_view label = address.label;
  if (!label.starts_with(old_name)) return {};
  const std::string_view suffix = label.substr(old_name.size());
  if (!suffix.starts_with(':') || new_name.size() + suffix.size() >= IFNAMSIZ) return {};
  return fmt::format("{}{}", new_name, suffix);
}

std::string address_text(const NetAddress& address) {
  char text[INET6_ADDRSTRLEN] = "";
  for (const auto& [type, bytes] : address.attributes)
    if (type == IFA_LOCAL || (type == IFA_ADDRESS && text[0] == '\0'))
      ::inet_ntop(address.fixed.ifa_family, bytes.data(), text, sizeof text);
  return fmt::format("{}/{}", text, address.fixed.ifa_prefixlen);
}

}  // namespace

Result<std::vector<NetAddress>> permanent_addresses(const NetlinkSocket& socket, int index) {
  for (int tries = kTries;; --tries) {
    std::vector<NetAddress> addresses;
    NetlinkMessage request(RTM_GETADDR, NLM_F_DUMP);
    request.add_fixed_part<ifaddrmsg>().ifa_family = AF_UNSPEC;
    auto read = socket.query(
        request, [&](const nlmsghdr& answer) { read_address(answer, index, addresses); });
    if (read) return addresses;
    if (read.error().number() == EAGAIN && tries > 1) continue;
    return std::unexpected(read.error().within("list the addresses"));
  }
}

Result<void> add_addresses(const NetlinkSocket& socket, int index,
                           const std::vector<NetAddress>& addresses, std::string_view old_name,
                           std::string_view new_name) {
  for (const NetAddress& address : addresses) {
    const std::uint32_t flags = address.flags & kGivenFlags;
    NetlinkMessage request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE);
    auto& fixed = request.add_fixed_part<ifaddrmsg>();
    fixed.ifa_family = address.fixed.ifa_family;
    fixed.ifa_prefixlen = address.fixed.ifa_prefixlen;
    fixed.ifa_scope = address.fixed.ifa_scope;
    fixed.ifa_flags = static_cast<std::uint8_t>(flags);
    fixed.ifa_index = static_cast<std::uint32_t>(index);
    for (const auto& [type, bytes] : address.attributes) request.add_bytes(type, bytes);
    request.add(IFA_FLAGS, flags);
    if (const auto label = new_label(address, old_name, new_name); !label.empty())
      request.add(IFA_LABEL, label);
    OCIRUN_TRY(within(socket.acknowledge(request), "add address " + address_text(address)));
  }
  return {};
}

namespace {

constexpr std::size_t kMostAttributes = 16;  // the kernel has a dozen kinds
constexpr std::size_t kMostBytes = 32;       // of one attribute; an IPv6 address has 16

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

// Whether the bytes of an address have the length of its family. address_text() reads that many
// bytes without a check.
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
