// Whether ports of the host are free, in a network namespace of the test's own.

#include "pods/run/sandbox/host_ports.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "linux/network/interfaces.hpp"
#include "tests/child_test.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

constexpr std::uint16_t kPort = 8080;

Forward forward(Protocol protocol = Protocol::kTcp, const char* address = "") {
  return {.address = address,
          .host_port = kPort,
          .pod_port = 80,
          .protocol = protocol,
          .place = nullptr};
}

UniqueFd bound(int family, int type, const char* address) {
  UniqueFd socket(::socket(family, type | SOCK_CLOEXEC, 0));
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(kPort);
  ::inet_pton(AF_INET, address, &four.sin_addr);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(kPort);
  ::inet_pton(AF_INET6, address, &six.sin6_addr);
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  const int outcome =
      family == AF_INET
          ? ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&four), sizeof four)
          : ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&six), sizeof six);
  test::detail::check(outcome == 0, "bind");
  if (type == SOCK_STREAM) test::detail::check(::listen(socket.get(), 1) == 0, "listen");
  return socket;
}

/// Names this process, as a pod is named.
std::string check(const Forward& wanted) {
  const auto free = check_free(
      wanted, [](int pid) { return pid == ::getpid() ? std::string("this test") : std::string(); });
  return free ? "free" : free.error().message();
}

bool is_taken(const std::string& said, const std::string& port) {
  return said.starts_with(
      fmt::format("port {} is taken by this test (process {}, ", port, ::getpid()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ports_of_the_host)

OCIRUN_CHILD_TEST(a_port_that_is_taken_is_told_with_who_has_it, CLONE_NEWNET) {
  must(linux::bring_loopback_up());
  BOOST_TEST(check(forward()) == "free");
  BOOST_TEST(check(forward(Protocol::kUdp)) == "free");
  {
    const UniqueFd listener = bound(AF_INET, SOCK_STREAM, "127.0.0.1");
    BOOST_TEST(is_taken(check(forward()), "8080 of the host (TCP, IPv4)"));
    BOOST_TEST(
        is_taken(check(forward(Protocol::kTcp, "127.0.0.1")), "8080 of the host (TCP, 127.0.0.1)"));
    BOOST_TEST(check(forward(Protocol::kTcp, "127.0.0.2")) == "free");
    BOOST_TEST(check(forward(Protocol::kUdp)) == "free");
  }
  {
    const UniqueFd socket = bound(AF_INET, SOCK_DGRAM, "0.0.0.0");
    BOOST_TEST(is_taken(check(forward(Protocol::kUdp)), "8080 of the host (UDP, IPv4)"));
    BOOST_TEST(check(forward()) == "free");
  }
  {
    const UniqueFd listener = bound(AF_INET6, SOCK_STREAM, "::1");
    BOOST_TEST(is_taken(check(forward()), "8080 of the host (TCP, IPv6)"));
    BOOST_TEST(check(forward(Protocol::kTcp, "127.0.0.1")) == "free");
    BOOST_TEST(is_taken(check(forward(Protocol::kTcp, "::1")), "8080 of the host (TCP, ::1)"));
    BOOST_TEST(is_taken(check(forward(Protocol::kTcp, "::")), "8080 of the host (TCP, ::)"));
  }
  BOOST_TEST(check(forward()) == "free");
  BOOST_TEST(check(forward(Protocol::kTcp, "::1")) == "free");
}

OCIRUN_CHILD_TEST(an_address_that_the_host_does_not_have_is_an_error, CLONE_NEWNET) {
  must(linux::bring_loopback_up());
  BOOST_TEST(
      check(forward(Protocol::kTcp, "192.0.2.1")) ==
      "port 8080 of the host (TCP, 192.0.2.1) cannot be opened: cannot assign requested address");
}

BOOST_AUTO_TEST_CASE(the_kernels_table_of_sockets_is_read_by_its_columns) {
  const auto sockets = parse_sockets(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
      "inode\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000    33        0 "
      "88358 1 0\n"
      "   1: 0100007F:1F91 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 "
      "5 1 0\n"
      "damaged\n");
  BOOST_REQUIRE(sockets.size() == 2u);
  BOOST_TEST((sockets[0].address == "0100007F" && sockets[0].port == 8080 && sockets[0].listens &&
              sockets[0].uid == 33 && sockets[0].inode == 88358));
  BOOST_TEST((sockets[1].port == 8081 && !sockets[1].listens));
}

BOOST_AUTO_TEST_SUITE_END()
