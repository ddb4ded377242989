#pragma once

#include <linux/filter.h>
#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// An address as a filter compares it: words in the byte order of the host, of which IPv4 has one.
struct IpAddress {
  explicit IpAddress(const in_addr& address);
  explicit IpAddress(const in6_addr& address);
  bool is_link_local() const { return is_v6 && (words[0] & 0xffc00000) == 0xfe800000; }
  friend bool operator==(const IpAddress&, const IpAddress&) = default;

  bool is_v6;
  std::array<std::uint32_t, 4> words{};
};

struct DeviceAddress {
  std::string device;
  IpAddress address;
};

/// The addresses of all devices in the caller's network namespace.
Result<std::vector<DeviceAddress>> device_addresses();

/// The frames that may leave a network namespace by a device whose other end is a program that
/// sends them on from the host's network namespace, such as pasta.
struct FrameRules {
  std::vector<IpAddress> own;            // addresses of the device
  std::vector<IpAddress> host;           // addresses of the host
  std::vector<std::uint16_t> udp_ports;  // at which the program delivers datagrams from the host
};

/// A filter for Ethernet frames. It passes ARP, IPv6 neighbour discovery, and IP packets whose
/// source is an address in `own` (IPv6: also another address of the same /64 network, or
/// link-local). It drops packets to an address that is loopback, unspecified, multicast, or in
/// `own`. To an address in `host` it passes only answers, because the program may deliver packets
/// of the host from this address: TCP segments other than the first SYN, UDP datagrams from
/// `udp_ports`, and ICMP other than echo requests.
std::vector<sock_filter> frame_filter(const FrameRules& rules);
/// A filter that drops all frames.
std::vector<sock_filter> closed_frame_filter();

/// Filters the frames that a tap device gives the program that reads `tap`, in whatever way they
/// were sent, in place of an earlier filter. Nobody without this open file can remove the filter.
Result<void> filter_frames(Fd tap, const std::vector<sock_filter>& filter);

}  // namespace ocirun::linux
