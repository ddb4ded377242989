// A static program for pods: sends a packet of each protocol to each address in each way.
//   packets [frames] DEVICE PORT SOURCE4 SOURCE6 ADDRESS…
//   packets answer PORT     sends back what comes to this port by TCP and UDP, until it is killed
// Each packet has a port of its own, counted from PORT; an ICMP echo has it as its identifier.
// Prints a line for each: "PORT WAY PROTOCOL ADDRESS sent", or the errno instead of "sent". The
// ways: a socket; a socket that is bound to the device; with frames also frames, past the queues
// of the device too. SOURCE4 and SOURCE6 are the source addresses of frames.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#ifndef PACKET_QDISC_BYPASS
#define PACKET_QDISC_BYPASS 20
#endif

namespace {

enum class Protocol { kUdp, kTcp, kIcmp };
constexpr Protocol kProtocols[] = {Protocol::kUdp, Protocol::kTcp, Protocol::kIcmp};
constexpr const char* kNames[] = {"udp", "tcp", "icmp"};
enum class Way { kSocket, kBound, kFrame, kFramePastQueues };
constexpr const char* kWays[] = {"socket", "bound", "frame", "frame-past-queues"};

struct Address {
  bool is_v6 = false;
  std::uint8_t bytes[16] = {};
  explicit Address(const char* text) {
    is_v6 = std::strchr(text, ':') != nullptr;
    if (inet_pton(is_v6 ? AF_INET6 : AF_INET, text, bytes) != 1) std::exit(2);
  }
  std::size_t size() const { return is_v6 ? 16 : 4; }
};

const char* device;

template <typename Header>
void append(std::string& bytes, const Header& header) {
  bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
}

std::uint16_t checksum(std::string_view bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    sum += i % 2 == 0 ? static_cast<std::uint32_t>(byte) << 8 : byte;
  }
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return htons(static_cast<std::uint16_t>(~sum));
}

std::uint8_t number_of(Protocol protocol, bool is_v6) {
  if (protocol == Protocol::kUdp) return IPPROTO_UDP;
  if (protocol == Protocol::kTcp) return IPPROTO_TCP;
  if (is_v6) return IPPROTO_ICMPV6;
  return IPPROTO_ICMP;
}

/// The segment, with its checksum at `place`.
std::string segment(Protocol protocol, const Address& from, const Address& to, std::uint16_t port) {
  std::string text;
  std::size_t place = 0;
  if (protocol == Protocol::kUdp) {
    udphdr header{};
    header.source = htons(40000);
    header.dest = htons(port);
    header.len = htons(sizeof header + 5);
    append(text, header);
    text += "hello";
    place = offsetof(udphdr, check);
  } else if (protocol == Protocol::kTcp) {
    tcphdr header{};
    header.source = htons(40000);
    header.dest = htons(port);
    header.seq = htonl(1);
    header.doff = 5;
    header.syn = 1;
    header.window = htons(65535);
    append(text, header);
    place = offsetof(tcphdr, check);
  } else {
    icmphdr header{};
    header.type = to.is_v6 ? static_cast<std::uint8_t>(ICMP6_ECHO_REQUEST)
                           : static_cast<std::uint8_t>(ICMP_ECHO);
    header.un.echo.id = htons(port);
    header.un.echo.sequence = htons(1);
    append(text, header);
    place = offsetof(icmphdr, checksum);
  }
  std::string covered;
  if (protocol != Protocol::kIcmp || to.is_v6) {
    covered.append(reinterpret_cast<const char*>(from.bytes), from.size());
    covered.append(reinterpret_cast<const char*>(to.bytes), to.size());
    append(covered, htonl(static_cast<std::uint32_t>(text.size())));
    append(covered, htonl(number_of(protocol, to.is_v6)));
  }
  const std::uint16_t sum = checksum(covered + text);
  std::memcpy(text.data() + place, &sum, sizeof sum);
  return text;
}

std::string frame(Protocol protocol, const Address& from, const Address& to, std::uint16_t port) {
  const std::string data = segment(protocol, from, to, port);
  ether_header ethernet{};
  std::memset(ethernet.ether_dhost, 0xff, ETH_ALEN);
  std::memset(ethernet.ether_shost, 0x02, ETH_ALEN);
  ethernet.ether_type = htons(to.is_v6 ? ETHERTYPE_IPV6 : ETHERTYPE_IP);
  std::string text;
  append(text, ethernet);
  if (to.is_v6) {
    ip6_hdr header{};
    header.ip6_flow = htonl(6U << 28);
    header.ip6_plen = htons(static_cast<std::uint16_t>(data.size()));
    header.ip6_nxt = number_of(protocol, true);
    header.ip6_hlim = 64;
    std::memcpy(&header.ip6_src, from.bytes, 16);
    std::memcpy(&header.ip6_dst, to.bytes, 16);
    append(text, header);
  } else {
    iphdr header{};
    header.version = 4;
    header.ihl = 5;
    header.tot_len = htons(static_cast<std::uint16_t>(sizeof header + data.size()));
    header.ttl = 64;
    header.protocol = number_of(protocol, false);
    std::memcpy(&header.saddr, from.bytes, 4);
    std::memcpy(&header.daddr, to.bytes, 4);
    std::string bytes;
    append(bytes, header);
    header.check = checksum(bytes);
    append(text, header);
  }
  return text + data;
}

int send_frame(Way way, const std::string& bytes) {
  const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
  if (fd < 0) return errno;
  const int on = 1;
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_ifindex = static_cast<int>(if_nametoindex(device));
  to.sll_halen = ETH_ALEN;
  std::memset(to.sll_addr, 0xff, ETH_ALEN);
  int error = 0;
  if (way == Way::kFramePastQueues &&
      setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on) != 0)
    error = errno;
  if (error == 0 &&
      sendto(fd, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to) < 0)
    error = errno;
  close(fd);
  return error;
}

int make_socket(Protocol protocol, bool is_v6) {
  const int family = is_v6 ? AF_INET6 : AF_INET;
  if (protocol == Protocol::kTcp) return socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (protocol == Protocol::kUdp) return socket(family, SOCK_DGRAM, 0);
  const int number = number_of(protocol, is_v6);
  const int raw = socket(family, SOCK_RAW, number);
  return raw >= 0 ? raw : socket(family, SOCK_DGRAM, number);
}

int send_by_socket(Way way, Protocol protocol, const Address& to, std::uint16_t port) {
  const int fd = make_socket(protocol, to.is_v6);
  if (fd < 0) return errno;
  const auto act = [&]() -> int {
    if (way == Way::kBound && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device,
                                         static_cast<socklen_t>(std::strlen(device) + 1)) != 0)
      return errno;
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = protocol == Protocol::kIcmp ? 0 : htons(port);
    std::memcpy(&v6.sin6_addr, to.bytes, 16);
    if (IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr) || IN6_IS_ADDR_MULTICAST(&v6.sin6_addr))
      v6.sin6_scope_id = if_nametoindex(device);
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, to.bytes, 4);
    const auto* address =
        to.is_v6 ? reinterpret_cast<sockaddr*>(&v6) : reinterpret_cast<sockaddr*>(&v4);
    const socklen_t size = to.is_v6 ? sizeof v6 : sizeof v4;
    if (protocol == Protocol::kTcp) {
      if (connect(fd, address, size) != 0 && errno != EINPROGRESS) return errno;
      pollfd watched{fd, POLLOUT, 0};
      poll(&watched, 1, 50);
      return 0;
    }
    const std::string data = protocol == Protocol::kUdp ? "hello" : segment(protocol, to, to, port);
    return sendto(fd, data.data(), data.size(), 0, address, size) < 0 ? errno : 0;
  };
  const int error = act();
  close(fd);
  return error;
}

int answer(std::uint16_t port) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  pollfd watched[] = {{socket(AF_INET6, SOCK_DGRAM, 0), POLLIN, 0},
                      {socket(AF_INET6, SOCK_STREAM, 0), POLLIN, 0}};
  for (const pollfd& one : watched)
    if (bind(one.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return 1;
  if (listen(watched[1].fd, 10) != 0) return 1;
  for (char text[64]; poll(watched, 2, -1) > 0;) {
    sockaddr_in6 from{};
    socklen_t size = sizeof from;
    if (watched[0].revents != 0) {
      const ssize_t got =
          recvfrom(watched[0].fd, text, sizeof text, 0, reinterpret_cast<sockaddr*>(&from), &size);
      if (got > 0)
        sendto(watched[0].fd, text, static_cast<std::size_t>(got), 0,
               reinterpret_cast<sockaddr*>(&from), size);
    }
    if (watched[1].revents == 0) continue;
    const int fd = accept(watched[1].fd, nullptr, nullptr);
    const ssize_t got = read(fd, text, sizeof text);
    if (got > 0 && write(fd, text, static_cast<std::size_t>(got)) < 0) return 1;
    close(fd);
  }
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::string_view(words[1]) == "answer")
    return answer(static_cast<std::uint16_t>(std::atoi(words[2])));
  int at = 1;
  const bool with_frames = count > 1 && std::string_view(words[1]) == "frames";
  if (with_frames) ++at;
  if (count < at + 5) return 2;
  device = words[at++];
  auto port = static_cast<std::uint16_t>(std::atoi(words[at++]));
  const Address source4(words[at++]), source6(words[at++]);
  for (; at < count; ++at) {
    const Address to(words[at]);
    for (const Way way : {Way::kSocket, Way::kBound, Way::kFrame, Way::kFramePastQueues}) {
      const bool is_frame = way == Way::kFrame || way == Way::kFramePastQueues;
      if (is_frame && !with_frames) continue;
      for (const Protocol protocol : kProtocols) {
        const int error =
            is_frame ? send_frame(way, frame(protocol, to.is_v6 ? source6 : source4, to, port))
                     : send_by_socket(way, protocol, to, port);
        std::printf("%u %s %s %s %s\n", port++, kWays[static_cast<int>(way)],
                    kNames[static_cast<int>(protocol)], words[at],
                    error == 0 ? "sent" : strerrorname_np(error));
      }
    }
  }
}
