#include "linux/network/frame_filter.hpp"

#include <ifaddrs.h>
#include <linux/if_ether.h>
#include <linux/if_tun.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <sys/ioctl.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "linux/seccomp/program.hpp"

namespace ocirun::linux {

IpAddress::IpAddress(const in_addr& address) : is_v6(false) { words[0] = ntohl(address.s_addr); }

IpAddress::IpAddress(const in6_addr& address) : is_v6(true) {
  const auto bytes = std::bit_cast<std::array<std::uint32_t, 4>>(address);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = ntohl(bytes[i]);
}

Result<std::vector<DeviceAddress>> device_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return fail(errno, "list the addresses of network devices");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::vector<DeviceAddress> found;
  for (const ifaddrs* row = list; row != nullptr; row = row->ifa_next) {
    if (row->ifa_addr == nullptr) continue;
    if (row->ifa_addr->sa_family == AF_INET) {
      sockaddr_in address;
      std::memcpy(&address, row->ifa_addr, sizeof address);
      found.push_back({row->ifa_name, IpAddress(address.sin_addr)});
    } else if (row->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 address;
      std::memcpy(&address, row->ifa_addr, sizeof address);
      found.push_back({row->ifa_name, IpAddress(address.sin6_addr)});
    }
  }
  return found;
}

namespace {

constexpr std::uint32_t kDrop = 0, kPass = UINT32_MAX;  // how many bytes of the frame are kept

// Offsets in a frame. With an extension header of IPv6, kProtocol6 has the number of that header,
// so that add_answers() drops the frame.
constexpr std::uint32_t kType = 12, kHeader = 14;
constexpr std::uint32_t kProtocol4 = 23, kSource4 = 26, kDestination4 = 30;
constexpr std::uint32_t kProtocol6 = 20, kSource6 = 22, kDestination6 = 38, kPayload6 = 54;
constexpr std::uint32_t kFragment4 = 20, kOffsetBits = 0x1fff;
constexpr std::uint32_t kTcpFlags = 13, kSyn = 0x02, kAck = 0x10;

/// The version of IP that a part of the filter is for.
struct Version {
  std::uint32_t protocol;  // the place of the protocol's number
  std::uint32_t icmp, echo_request;
};
constexpr Version kIpv4{.protocol = kProtocol4, .icmp = IPPROTO_ICMP, .echo_request = ICMP_ECHO};
constexpr Version kIpv6{
    .protocol = kProtocol6, .icmp = IPPROTO_ICMPV6, .echo_request = ICMP6_ECHO_REQUEST};

/// A filter that is written from its beginning to its end. Each jump goes forward.
class FrameProgram {
 public:
  using Jump = std::size_t;

  void load(unsigned size, std::uint32_t place) {
    program_.push_back(statement(BPF_LD | size | BPF_ABS, place));
  }
  /// Loads the length of the IP header into the index register, for load_payload().
  void load_length(const Version& version) {
    const bool is_v6 = version.protocol == kProtocol6;
    program_.push_back(is_v6 ? statement(BPF_LDX | BPF_IMM, kPayload6 - kHeader)
                             : statement(BPF_LDX | BPF_B | BPF_MSH, kHeader));
  }
  void load_payload(unsigned size, std::uint32_t place) {
    program_.push_back(statement(BPF_LD | size | BPF_IND, kHeader + place));
  }
  void mask(std::uint32_t bits) { program_.push_back(statement(BPF_ALU | BPF_AND | BPF_K, bits)); }
  void end(std::uint32_t answer) { program_.push_back(return_answer(answer)); }
  void end_if(unsigned test, std::uint32_t value, std::uint32_t answer) {
    program_.push_back(jump(test, value, 0, 1));
    end(answer);
  }
  Jump go() {
    program_.push_back(jump_always(0));
    return program_.size() - 1;
  }
  Jump go_if(std::uint32_t value) {
    program_.push_back(jump(BPF_JEQ, value, 0, 1));
    return go();
  }
  Jump go_unless(std::uint32_t value) {
    program_.push_back(jump(BPF_JEQ, value, 1, 0));
    return go();
  }
  /// The target of a jump is the next instruction.
  void arrive(Jump from) {
    program_[from].k = static_cast<std::uint32_t>(program_.size() - from - 1);
  }
  /// Goes on with the next instructions if the first `count` words at `place` are those of
  /// `address`. The returned jumps are taken otherwise.
  std::vector<Jump> compare(std::uint32_t place, const IpAddress& address, std::size_t count) {
    std::vector<Jump> otherwise;
    for (std::size_t i = 0; i < count; ++i) {
      load(BPF_W, place + static_cast<std::uint32_t>(4 * i));
      otherwise.push_back(go_unless(address.words[i]));
    }
    return otherwise;
  }
  void arrive(const std::vector<Jump>& jumps) {
    for (const Jump jump : jumps) arrive(jump);
  }
  Program take() { return std::move(program_); }

 private:
  Program program_;
};

/// Adds instructions that drop a frame to an address of the host if it is no answer. An answer goes
/// on behind these instructions.
void add_answers(FrameProgram& code, const FrameRules& rules, const Version& version) {
  code.load_length(version);
  code.load(BPF_B, version.protocol);
  const auto not_tcp = code.go_unless(IPPROTO_TCP);
  code.load_payload(BPF_B, kTcpFlags);
  code.mask(kSyn | kAck);
  code.end_if(BPF_JEQ, kSyn, kDrop);
  const auto is_segment = code.go();
  code.arrive(not_tcp);
  const auto not_udp = code.go_unless(IPPROTO_UDP);
  code.load_payload(BPF_H, 0);
  std::vector<FrameProgram::Jump> is_datagram;
  for (const std::uint16_t port : rules.udp_ports) is_datagram.push_back(code.go_if(port));
  code.end(kDrop);
  code.arrive(not_udp);
  const auto is_message = code.go_if(version.icmp);
  code.end(kDrop);
  code.arrive(is_message);
  code.load_payload(BPF_B, 0);
  code.end_if(BPF_JEQ, version.echo_request, kDrop);
  code.arrive(is_segment);
  code.arrive(is_datagram);
}

void add_ipv4(FrameProgram& code, const FrameRules& rules) {
  code.load(BPF_W, kDestination4);
  code.end_if(BPF_JGE, 0xe0000000, kDrop);  // multicast, reserved, broadcast
  for (const IpAddress& address : rules.own)
    if (!address.is_v6) code.end_if(BPF_JEQ, address.words[0], kDrop);
  code.mask(0xff000000);
  code.end_if(BPF_JEQ, 0x00000000, kDrop);  // Linux takes 0.0.0.0 for itself
  code.end_if(BPF_JEQ, 0x7f000000, kDrop);
  std::vector<FrameProgram::Jump> to_host;
  code.load(BPF_W, kDestination4);
  for (const IpAddress& address : rules.host)
    if (!address.is_v6) to_host.push_back(code.go_if(address.words[0]));
  const auto to_others = code.go();
  code.arrive(to_host);
  code.load(BPF_H, kFragment4);
  code.mask(kOffsetBits);
  const auto has_payload = code.go_if(0);
  code.end(kDrop);
  code.arrive(has_payload);
  add_answers(code, rules, kIpv4);
  code.arrive(to_others);
  code.load(BPF_W, kSource4);
  for (const IpAddress& address : rules.own)
    if (!address.is_v6) code.end_if(BPF_JEQ, address.words[0], kPass);
  code.end(kDrop);
}

void add_sources6(FrameProgram& code, const FrameRules& rules) {
  code.load(BPF_W, kSource6);
  code.mask(0xffc00000);
  code.end_if(BPF_JEQ, 0xfe800000, kPass);
  for (const IpAddress& address : rules.own)
    if (address.is_v6 && !address.is_link_local()) {
      const auto otherwise = code.compare(kSource6, address, 2);
      code.end(kPass);
      code.arrive(otherwise);
    }
  // A device asks from :: whether its addresses are free.
  const auto otherwise = code.compare(kSource6, IpAddress(in6_addr{}), 4);
  code.load(BPF_B, kProtocol6);
  code.end_if(BPF_JEQ, IPPROTO_ICMPV6, kPass);
  code.arrive(otherwise);
  code.end(kDrop);
}

void add_ipv6(FrameProgram& code, const FrameRules& rules) {
  code.load(BPF_B, kDestination6);
  const auto one_receiver = code.go_unless(0xff);
  code.load(BPF_B, kProtocol6);
  const auto is_neighbour = code.go_if(IPPROTO_ICMPV6);
  code.end(kDrop);
  code.arrive(is_neighbour);
  code.load(BPF_B, kPayload6);
  code.end_if(BPF_JEQ, ICMP6_ECHO_REQUEST, kDrop);
  code.arrive(one_receiver);

  const auto not_mapped = code.compare(kDestination6, IpAddress(in6_addr{}), 2);
  code.load(BPF_W, kDestination6 + 8);
  code.end_if(BPF_JEQ, 0x0000, kDrop);  // ::, ::1, and the deprecated ::127.0.0.1
  code.end_if(BPF_JEQ, 0xffff, kDrop);  // ::ffff:127.0.0.1
  code.arrive(not_mapped);
  for (const IpAddress& address : rules.own)
    if (address.is_v6) {
      const auto otherwise = code.compare(kDestination6, address, 4);
      code.end(kDrop);
      code.arrive(otherwise);
    }
  std::vector<FrameProgram::Jump> to_host;
  for (const IpAddress& address : rules.host)
    if (address.is_v6) {
      const auto otherwise = code.compare(kDestination6, address, 4);
      to_host.push_back(code.go());
      code.arrive(otherwise);
    }
  const auto to_others = code.go();
  code.arrive(to_host);
  add_answers(code, rules, kIpv6);
  code.arrive(to_others);
  add_sources6(code, rules);
}

}  // namespace

std::vector<sock_filter> frame_filter(const FrameRules& rules) {
  FrameProgram code;
  code.load(BPF_H, kType);
  code.end_if(BPF_JEQ, ETH_P_ARP, kPass);
  const auto not_ipv4 = code.go_unless(ETH_P_IP);
  add_ipv4(code, rules);
  code.arrive(not_ipv4);
  const auto is_ipv6 = code.go_if(ETH_P_IPV6);
  code.end(kDrop);
  code.arrive(is_ipv6);
  add_ipv6(code, rules);
  return code.take();
}

std::vector<sock_filter> closed_frame_filter() { return {return_answer(kDrop)}; }

Result<void> filter_frames(Fd tap, const std::vector<sock_filter>& filter) {
  if (filter.size() > BPF_MAXINSNS) return fail(E2BIG, "filter the frames of a tap device");
  sock_fprog program{.len = static_cast<unsigned short>(filter.size()),
                     .filter = const_cast<sock_filter*>(filter.data())};
  if (::ioctl(tap.value, TUNATTACHFILTER, &program) != 0)
    return fail(errno, "filter the frames of a tap device");
  return {};
}

}  // namespace ocirun::linux
