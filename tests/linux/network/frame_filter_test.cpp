// Frames against the filter in the kernel: a socket of a pair filters what it receives, as a tap
// device filters what its reader gets.

#include "linux/network/frame_filter.hpp"

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>

#include "linux/base/unique_fd.hpp"

using namespace ocirun;
using namespace ocirun::linux;

namespace {

IpAddress address(const std::string& text) {
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, text.c_str(), &v4) == 1) return IpAddress(v4);
  BOOST_REQUIRE_MESSAGE(::inet_pton(AF_INET6, text.c_str(), &v6) == 1, text);
  return IpAddress(v6);
}

void put(std::string& bytes, std::size_t place, const IpAddress& value) {
  for (std::size_t i = 0; i < (value.is_v6 ? 4u : 1u); ++i) {
    const std::uint32_t word = htonl(value.words[i]);
    std::memcpy(bytes.data() + place + 4 * i, &word, sizeof word);
  }
}

constexpr std::array<std::uint8_t, 2> kIcmp{IPPROTO_ICMP, IPPROTO_ICMPV6};
constexpr std::uint8_t kSynOnly = 0x02, kSynAck = 0x12, kAckOnly = 0x10;

/// A frame, by default a datagram from a socket's port to port 53.
struct Frame {
  std::string from, to;
  std::uint8_t protocol = IPPROTO_UDP;
  std::uint16_t port = 40000;  // the source port of UDP and TCP
  std::uint8_t flags = kSynOnly;
  std::uint8_t message = 0;     // of ICMP
  std::size_t options = 0;      // bytes of options of IPv4
  std::uint16_t offset = 0;     // of a fragment of IPv4
  std::uint16_t ethertype = 0;  // 0: that of the addresses

  std::string bytes() const {
    const IpAddress source = address(from), destination = address(to);
    const bool is_v6 = destination.is_v6;
    std::string frame((is_v6 ? 54 : 34) + options, '\0');
    const std::uint16_t type = htons(ethertype != 0 ? ethertype
                                     : is_v6        ? ETHERTYPE_IPV6
                                                    : ETHERTYPE_IP);
    std::memcpy(frame.data() + 12, &type, sizeof type);
    frame[14] = static_cast<char>(is_v6 ? 0x60 : 0x45 + options / 4);
    frame[20] = static_cast<char>(offset >> 8), frame[21] = static_cast<char>(offset);
    frame[is_v6 ? 20 : 23] = static_cast<char>(protocol);
    put(frame, is_v6 ? 22 : 26, source);
    put(frame, is_v6 ? 38 : 30, destination);
    std::string payload(20, '\0');
    payload[0] = static_cast<char>(port >> 8), payload[1] = static_cast<char>(port);
    payload[13] = static_cast<char>(flags);
    if (message != 0) payload[0] = static_cast<char>(message);
    return frame + payload;
  }
};

/// A pod as pasta makes it: with an address of the host's device, which has others too.
struct FilterScene {
  UniqueFd pod, pasta;

  FilterScene() {
    std::array<int, 2> pair{};
    BOOST_REQUIRE(
        ::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) == 0);
    pod = UniqueFd(pair[0]);
    pasta = UniqueFd(pair[1]);
    FrameRules rules;
    for (const char* own : {"192.0.2.9", "2001:db8::9", "fe80::1234"})
      rules.own.push_back(address(own));
    for (const char* host : {"192.0.2.9", "192.0.2.10", "2001:db8::9", "2001:db8::10", "fe80::9"})
      rules.host.push_back(address(host));
    rules.udp_ports = {5300, 5301};
    load(frame_filter(rules));
  }
  void load(const std::vector<sock_filter>& filter) const {
    const sock_fprog program{.len = static_cast<unsigned short>(filter.size()),
                             .filter = const_cast<sock_filter*>(filter.data())};
    BOOST_REQUIRE(
        ::setsockopt(pasta.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0);
  }
  bool passes(const Frame& frame) const {
    const std::string sent = frame.bytes();
    if (::send(pod.get(), sent.data(), sent.size(), 0) < 0) return false;
    std::array<char, 256> got;
    const ssize_t count = ::recv(pasta.get(), got.data(), got.size(), 0);
    return count == static_cast<ssize_t>(sent.size());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(frames_of_pods, FilterScene)

BOOST_AUTO_TEST_CASE(what_goes_to_other_machines_passes) {
  for (const char* to : {"192.0.2.1", "198.51.100.1", "169.254.169.254", "223.255.255.255",
                         "1.0.0.1", "126.255.255.255", "128.0.0.1"})
    for (const std::uint8_t protocol :
         std::array<std::uint8_t, 4>{IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMP, IPPROTO_SCTP})
      BOOST_TEST(passes({.from = "192.0.2.9", .to = to, .protocol = protocol}), to);
  for (const char* to : {"2001:db8::1", "2606:4700::1", "fd00::1", "fe80::1", "64:ff9b::1.1.1.1",
                         "::1:0:0:0:1", "0:0:1::1"})
    for (const char* from : {"2001:db8::9", "2001:db8::abcd", "fe80::1234", "fe80::77"})
      BOOST_TEST(passes({.from = from, .to = to}), to);
}

BOOST_AUTO_TEST_CASE(loopback_unspecified_and_multicast_addresses_are_reached_by_no_protocol) {
  for (const char* to :
       {"127.0.0.1", "127.0.0.2", "127.255.255.255", "0.0.0.0", "0.255.255.255", "224.0.0.1",
        "224.0.0.251", "239.255.255.250", "240.0.0.1", "255.255.255.255"})
    for (const std::uint8_t protocol :
         std::array<std::uint8_t, 4>{IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMP, IPPROTO_SCTP})
      for (const std::uint8_t flags : {kSynOnly, kSynAck, kAckOnly})
        BOOST_TEST(!passes({.from = "192.0.2.9",
                            .to = to,
                            .protocol = protocol,
                            .port = 5300,
                            .flags = flags}),
                   to);
  for (const char* to : {"::1", "::", "::2", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:192.0.2.9",
                         "::ffff:198.51.100.1", "ff01::1", "ff02::fb", "ff0e::1"})
    for (const std::uint8_t protocol :
         std::array<std::uint8_t, 3>{IPPROTO_UDP, IPPROTO_TCP, IPPROTO_HOPOPTS})
      BOOST_TEST(!passes({.from = "2001:db8::9",
                          .to = to,
                          .protocol = protocol,
                          .port = 5300,
                          .flags = kSynAck}),
                 to);
}

BOOST_AUTO_TEST_CASE(the_pods_own_addresses_are_no_destinations) {
  for (const std::uint8_t flags : {kSynOnly, kSynAck})
    for (const std::uint8_t protocol :
         std::array<std::uint8_t, 3>{IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMP})
      BOOST_TEST(!passes({.from = "192.0.2.9",
                          .to = "192.0.2.9",
                          .protocol = protocol,
                          .port = 5300,
                          .flags = flags}));
  BOOST_TEST(!passes({.from = "2001:db8::9", .to = "2001:db8::9", .port = 5300}));
  BOOST_TEST(!passes({.from = "fe80::1234", .to = "fe80::1234", .port = 5300}));
}

BOOST_AUTO_TEST_CASE(the_hosts_other_addresses_get_answers_alone) {
  using Pair = std::array<const char*, 2>;
  for (const auto& [from, to] : {Pair{"192.0.2.9", "192.0.2.10"}, Pair{"fe80::1234", "fe80::9"},
                                 Pair{"2001:db8::9", "2001:db8::10"}}) {
    const bool is_v6 = address(to).is_v6;
    for (const std::size_t options : {0u, 4u, 40u}) {
      if (is_v6 && options != 0) continue;
      Frame frame{.from = from, .to = to, .options = options};
      BOOST_TEST(!passes(frame));
      frame.port = 5300;
      BOOST_TEST(passes(frame));
      frame.port = 5301;
      BOOST_TEST(passes(frame));
      frame.protocol = IPPROTO_TCP;
      BOOST_TEST(!passes(frame));
      frame.flags = kSynAck;
      BOOST_TEST(passes(frame));
      frame.flags = kAckOnly;
      BOOST_TEST(passes(frame));
      frame.flags = kSynOnly | 0xc0;  // with a notice of congestion
      BOOST_TEST(!passes(frame));
      frame.protocol = IPPROTO_SCTP;
      BOOST_TEST(!passes(frame));
      frame.protocol = kIcmp[is_v6];
      frame.message = is_v6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO;
      BOOST_TEST(!passes(frame));
      frame.message = is_v6 ? ICMP6_DST_UNREACH : ICMP_DEST_UNREACH;
      BOOST_TEST(passes(frame));
    }
  }
  BOOST_TEST(!passes({.from = "192.0.2.9", .to = "192.0.2.10", .port = 5300, .offset = 1}));
  BOOST_TEST(passes({.from = "192.0.2.9", .to = "192.0.2.10", .port = 5300, .offset = 0x2000}));
}

BOOST_AUTO_TEST_CASE(a_source_that_is_not_the_pods_is_refused) {
  for (const char* from : {"192.0.2.10", "192.0.2.8", "127.0.0.1", "0.0.0.0", "224.0.0.1"})
    BOOST_TEST(!passes({.from = from, .to = "192.0.2.1"}), from);
  for (const char* from :
       {"2001:db8:0:1::9", "2001:db9::9", "::1", "::", "::ffff:192.0.2.9", "fec0::1", "ff02::1"})
    BOOST_TEST(!passes({.from = from, .to = "2001:db8::1"}), from);
}

BOOST_AUTO_TEST_CASE(neighbours_are_asked) {
  BOOST_TEST(passes({.from = "192.0.2.9", .to = "127.0.0.1", .ethertype = ETHERTYPE_ARP}));
  for (const std::uint8_t message :
       std::array<std::uint8_t, 3>{ND_NEIGHBOR_SOLICIT, ND_NEIGHBOR_ADVERT, ND_ROUTER_SOLICIT}) {
    for (const char* from : {"2001:db8::9", "fe80::1234", "::"})
      BOOST_TEST(passes(
          {.from = from, .to = "ff02::1:ff00:1", .protocol = IPPROTO_ICMPV6, .message = message}));
    BOOST_TEST(passes(
        {.from = "fe80::1234", .to = "fe80::9", .protocol = IPPROTO_ICMPV6, .message = message}));
  }
  BOOST_TEST(!passes({.from = "fe80::1234",
                      .to = "ff02::1",
                      .protocol = IPPROTO_ICMPV6,
                      .message = ICMP6_ECHO_REQUEST}));
}

BOOST_AUTO_TEST_CASE(other_frames_and_short_ones_are_dropped) {
  for (const std::uint16_t type :
       std::array<std::uint16_t, 4>{ETHERTYPE_VLAN, 0x88a8, 0x88cc, 0x0001})
    BOOST_TEST(!passes({.from = "192.0.2.9", .to = "192.0.2.1", .ethertype = type}));
  std::string frame = Frame{.from = "192.0.2.9", .to = "192.0.2.1"}.bytes();
  for (std::size_t size = 1; size < 34; ++size) {
    std::array<char, 64> got;
    ignore(::send(pod.get(), frame.data(), size, 0));
    BOOST_TEST(::recv(pasta.get(), got.data(), got.size(), 0) < 0);
  }
}

BOOST_AUTO_TEST_CASE(a_closed_gate_lets_nothing_through) {
  load(closed_frame_filter());
  BOOST_TEST(!passes({.from = "192.0.2.9", .to = "192.0.2.1"}));
  BOOST_TEST(!passes({.from = "192.0.2.9", .to = "192.0.2.1", .ethertype = ETHERTYPE_ARP}));
}

BOOST_AUTO_TEST_SUITE_END()
