// The addresses of networks of pods.

#include <boost/test/unit_test.hpp>

#include "pods/run/networks/subnet.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

constexpr const char* kHead =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";

/// A line of /proc/net/route on a little-endian machine.
std::string route(const char* destination, const char* mask) {
  return fmt::format("eth0\t{}\t00000000\t0001\t0\t0\t0\t{}\t0\t0\t0\n", destination, mask);
}

int third(const std::string& routes, std::uint8_t start) {
  return must(free_subnet(kHead + routes, start));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(subnets)

BOOST_AUTO_TEST_CASE(a_member_has_an_address_of_each_family_and_a_hardware_address) {
  const Subnet subnet{.third = 7, .global_id = 0x0102030405};
  BOOST_TEST(subnet.ipv4(2) == "10.89.7.2");
  BOOST_TEST(subnet.ipv6(254) == "fd01:0203:0405::fe");
  BOOST_TEST(subnet.mac(254) == "02:6f:0a:59:07:fe");
}

BOOST_AUTO_TEST_CASE(a_subnet_is_not_one_that_the_host_has_a_route_to) {
  BOOST_TEST(third("", 5) == 5);
  BOOST_TEST(third(route("00000000", "00000000"), 5) == 5);  // the default route
  BOOST_TEST(third(route("0005590A", "00FFFFFF"), 5) == 6);  // 10.89.5.0/24
  BOOST_TEST(third(route("8005590A", "80FFFFFF"), 5) == 6);  // 10.89.5.128/25
  BOOST_TEST(third(route("0004590A", "00FCFFFF"), 5) == 8);  // 10.89.4.0/22
  BOOST_TEST(third(route("0005590B", "00FFFFFF"), 5) == 5);  // 11.89.5.0/24
  BOOST_TEST(third(route("00FF590A", "00FFFFFF"), 255) == 0);
}

BOOST_AUTO_TEST_CASE(a_host_with_routes_to_all_subnets_is_an_error) {
  const auto made = free_subnet(kHead + route("0000000A", "000000FF"), 0);
  BOOST_REQUIRE(!made);
  BOOST_TEST(made.error().message() ==
             "the host has routes to all of 10.89.0.0/16, which networks of pods use");
}

BOOST_AUTO_TEST_CASE(lines_that_are_no_routes_are_left_out) {
  BOOST_TEST(third("eth0\t0005590A\n" + route("xyz", "00FFFFFF") + "\n", 5) == 5);
}

BOOST_AUTO_TEST_SUITE_END()
