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

/// A filter for Ethernet frames. Lets ARP through, and what a socket of the namespace could send to
/// another machine: from an address in `own` (IPv6: from the /64 network of such an address, or
/// link-local) to an address that is not loopback, not unspecified, not multicast and in neither
/// list. Neighbour discovery is let through. To an address in `host`, from which the program may
/// deliver what comes from the host itself, only answers may go: segments of TCP connections that
/// the other side has opened, datagrams from `udp_ports`, and ICMP that asks for no echo.
std::vector<sock_filter> frame_filter(const FrameRules& rules);
/// A filter that drops all frames.
std::vector<sock_filter> closed_frame_filter();

/// Filters the frames that a tap device gives the program that reads `tap`, in whatever way they
/// were sent, in place of an earlier filter. Nobody without this open file can remove the filter.
Result<void> filter_frames(Fd tap, const std::vector<sock_filter>& filter);

}  // namespace ocirun::linux
