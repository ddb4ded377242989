#include "linux/resctrl/stats.hpp"

#include <boost/test/unit_test.hpp>

#include "linux/network/interfaces.hpp"
#include "linux/resctrl/group.hpp"
#include "tests/linux/resctrl/fixture.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(resctrl_stats)

BOOST_AUTO_TEST_CASE(schemata_of_an_existing_clos_are_changed_and_the_old_ones_told) {
  const ResctrlTree tree;
  tree.make_group("web");
  tree.write("web/schemata", "    L3:0=fff\n    MB:0=100\n");
  const auto old = must(update_resctrl(HostPath(tree.root()), "web", {"L3:0=00f"}));
  BOOST_TEST((old == std::vector<std::string>{"L3:0=fff"}));
  BOOST_TEST(tree.read("web/schemata").starts_with("L3:0=00f\n"));
  must_fail(update_resctrl(HostPath(tree.root()), "nobody", {"L3:0=00f"}));
}

BOOST_AUTO_TEST_CASE(what_lines_speak_of_is_found_in_schemata) {
  const auto found = schemata_of("   L3:0=f;1=f\n   MB:0=90\n  L2:0=1\n", {"MB:0=10", "L3:1=1"});
  BOOST_TEST((found == std::vector<std::string>{"L3:0=f;1=f", "MB:0=90"}));
  BOOST_TEST(schemata_of("", {"L3:0=f"}).empty());
}

BOOST_AUTO_TEST_CASE(cache_bandwidth_and_occupancy_are_read) {
  const ResctrlTree tree;
  const auto make = [&](const std::string& directory) {
    std::filesystem::create_directories(tree.root() + "/" + directory);
  };
  tree.make_group("web");
  make("info/L3");
  make("info/MB");
  tree.write("info/L3/cbm_mask", "fff\n");
  tree.write("info/L3/num_closids", "16\n");
  tree.write("info/MB/bandwidth_gran", "10\n");
  tree.write("schemata", "L3:0=fff\n");
  tree.write("web/schemata", "    L3:0=00f\n    MB:0=20\n");
  for (const char* domain : {"mon_L3_00", "mon_L3_01"}) {
    const std::string directory = fmt::format("web/mon_groups/web/mon_data/{}", domain);
    make(directory);
    tree.write(directory + "/llc_occupancy", "4096\n");
    tree.write(directory + "/mbm_total_bytes", "Unavailable\n");
  }
  const ResctrlStats stats = must(read_resctrl_stats(HostPath(tree.root()), "web", "web"));
  BOOST_TEST(stats.l3.value().cbm_mask == "fff");
  BOOST_TEST(stats.l3->num_closids == 16U);
  BOOST_TEST(stats.bandwidth.value().bandwidth_gran == 10U);
  BOOST_TEST(stats.l3_schema_root == "L3:0=fff");
  BOOST_TEST(stats.l3_schema == "L3:0=00f");
  BOOST_TEST(stats.bandwidth_schema == "MB:0=20");
  BOOST_REQUIRE(stats.domains.size() == 2U);
  BOOST_TEST(stats.domains[1].llc_occupancy.value() == 4096U);
  BOOST_TEST(!stats.domains[1].mbm_total_bytes.has_value());
}

BOOST_AUTO_TEST_CASE(interface_counters_are_read_by_column_and_loopback_left_out) {
  const auto interfaces = parse_interface_stats(
      "Inter-|   Receive                            |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop"
      " fifo colls carrier compressed\n"
      "    lo: 9 9 9 9 0 0 0 0 9 9 9 9 0 0 0 0\n"
      "  eth0: 100 2 3 4 0 0 0 0 500 6 7 8 0 0 0 0\n");
  BOOST_REQUIRE(interfaces.size() == 1U);
  BOOST_TEST(interfaces[0].name == "eth0");
  BOOST_TEST(interfaces[0].rx_bytes == 100U);
  BOOST_TEST(interfaces[0].rx_dropped == 4U);
  BOOST_TEST(interfaces[0].tx_bytes == 500U);
  BOOST_TEST(interfaces[0].tx_errors == 7U);
  BOOST_TEST(must(read_interface_stats(::getpid())).empty());  // our own: the host's
}

BOOST_AUTO_TEST_SUITE_END()
