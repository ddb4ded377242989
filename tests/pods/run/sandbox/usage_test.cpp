// What a container uses.

#include "pods/run/sandbox/usage.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(usage)

BOOST_AUTO_TEST_CASE(traffic_is_the_sum_of_all_devices_but_the_loopback_device) {
  constexpr std::string_view kText =
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
      "    lo:  500       5    0    0    0     0          0         0      500       5    0    0   "
      " "
      "0     0       0          0\n"
      "  eth0: 1000      10    0    0    0     0          0         0     2000      20    0    0   "
      " "
      "0     0       0          0\n"
      "a:b:5 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n"
      "odd: 1 2\n";
  const NetworkBytes bytes = parse_network_bytes(kText);
  BOOST_TEST(bytes.received == 1005U);
  BOOST_TEST(bytes.sent == 2007U);
  BOOST_TEST((parse_network_bytes("") == NetworkBytes{}));
}

BOOST_AUTO_TEST_CASE(the_callers_own_network_is_no_traffic_of_a_container) {
  const auto procfs = must(linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  BOOST_TEST(!read_network_bytes(procfs, ::getpid()).has_value());
  BOOST_TEST(!read_network_bytes(procfs, 0x7FFFFFFF).has_value());
}

BOOST_AUTO_TEST_CASE(the_share_of_cpus_is_in_hundredths_of_a_percent_of_one) {
  Usage before, now;
  BOOST_TEST(!cpu_hundredths(before, now).has_value());
  before.cpu_ns = 1'000'000'000;
  now.cpu_ns = 2'500'000'000;
  BOOST_TEST(!cpu_hundredths(before, now).has_value());  // no time has passed
  now.at = before.at + std::chrono::seconds(1);
  BOOST_TEST(cpu_hundredths(before, now).value() == 15000U);
  now.at = before.at + std::chrono::seconds(4);
  BOOST_TEST(cpu_hundredths(before, now).value() == 3750U);
  now.cpu_ns = 0;  // of a new cgroup
  BOOST_TEST(!cpu_hundredths(before, now).has_value());
}

BOOST_AUTO_TEST_CASE(a_container_without_a_cgroup_has_no_numbers) {
  const Usage none = read_cgroup_usage("", "");
  BOOST_TEST((!none.cpu_ns && !none.memory && !none.pids && !none.block_read));
  const Usage absent = read_cgroup_usage("/ocirun/there-is-no-such-pod/app", "");
  BOOST_TEST((!absent.cpu_ns && !absent.memory && !absent.pids && !absent.block_read));
}

BOOST_AUTO_TEST_SUITE_END()
