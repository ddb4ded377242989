#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "linux/netdevice/journal.hpp"
#include "linux/netdevice/net_address.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

NetAddress address() {
  NetAddress address;
  address.fixed.ifa_family = AF_INET;
  address.fixed.ifa_prefixlen = 24;
  address.fixed.ifa_scope = 0;
  address.flags = IFA_F_PERMANENT | IFA_F_NOPREFIXROUTE;
  address.attributes = {{IFA_ADDRESS, std::string("\x0a\x09\x00\x02", 4)},
                        {IFA_LOCAL, std::string("\x0a\x09\x00\xff", 4)}};
  address.label = "web0:a b";
  return address;
}

Departure departure() {
  return {.host_name = "web0",
          .kind = "veth",
          .passing_name = "oci0123456789ab",
          .was_up = true,
          .addresses = {address(), address()}};
}

UniqueFd empty_file() { return UniqueFd(::memfd_create("journal", MFD_CLOEXEC)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(net_journal)

BOOST_AUTO_TEST_CASE(an_address_comes_back_as_it_was) {
  const std::string text = net_address_text(address());
  BOOST_TEST(text == "2/24/0/640/776562303a612062/1=0a090002/2=0a0900ff");
  const auto back = parse_net_address(text);
  BOOST_TEST_REQUIRE(back.has_value());
  BOOST_TEST(net_address_text(*back) == text);
  BOOST_TEST(back->label == "web0:a b");
  NetAddress bare;
  BOOST_TEST(net_address_text(*parse_net_address(net_address_text(bare))) == "0/0/0/0/");
}

BOOST_AUTO_TEST_CASE(what_is_no_address_is_none) {
  std::string many = "2/24/0/128/";
  for (int i = 0; i < 17; ++i) many += "/6=00";
  for (const std::string& text :
       {std::string(), std::string("2"), std::string("2/24/0"), std::string("x/24/0/128/"),
        std::string("256/24/0/128/"), std::string("2/24/0/128/0"), std::string("2/24/0/128/zz"),
        std::string("2/24/0/128//2=0a0900"),     // three bytes of four
        std::string("10/64/0/128//1=0a090002"),  // four of sixteen
        std::string("2/24/0/128//2"), std::string("2/24/0/128//70000=00"),
        "2/24/0/128//6=" + std::string(66, '0'), many})
    BOOST_TEST(!parse_net_address(text).has_value(), text);
}

BOOST_AUTO_TEST_CASE(a_journal_tells_how_far_each_device_has_come) {  // L-29
  const UniqueFd file = empty_file();
  const Journal journal(file);
  BOOST_TEST(must(journal.read()).empty());
  Departure other = departure();
  other.host_name = "web1";
  other.passing_name = "ociffffffffffff";
  other.kind.clear();
  other.was_up = false;
  other.addresses.clear();
  must(journal.leaves(departure()));
  must(journal.arrived(departure(), 7));
  must(journal.leaves(other));
  must(journal.came_home(departure(), 12));
  must(journal.is_back(departure()));
  const auto devices = must(journal.read());
  BOOST_TEST_REQUIRE(devices.size() == 2U);
  BOOST_TEST(departure_line(devices[0]) == departure_line(departure()));
  BOOST_TEST(devices[0].index_there == 7);
  BOOST_TEST(devices[0].index_home == 12);
  BOOST_TEST(devices[0].is_back);
  BOOST_TEST(departure_line(devices[1]) == "leave web1 ociffffffffffff down -");
  BOOST_TEST(devices[1].index_there == 0);
  BOOST_TEST(!devices[1].is_back);
}

BOOST_AUTO_TEST_CASE(a_line_that_was_not_written_to_its_end_did_not_happen) {
  const std::string whole = departure_line(departure()) + "\nthere oci0123456789ab 71\n";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto devices = parse_journal(whole.substr(0, size));
    if (size <= departure_line(departure()).size()) {
      BOOST_TEST(devices.empty(), size);
    } else {
      BOOST_TEST_REQUIRE(devices.size() == 1U, size);
      BOOST_TEST(devices[0].addresses.size() == 2U);
      BOOST_TEST(devices[0].index_there == 0, size);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_line_after_half_a_line_is_read) {
  const UniqueFd file = empty_file();
  const Journal journal(file);
  must(journal.leaves(departure()));
  BOOST_REQUIRE(::write(file.get(), "there oci0123456789ab 7", 23) == 23);  // of 71
  must(journal.came_home(departure(), 12));
  const auto devices = must(journal.read());
  BOOST_TEST_REQUIRE(devices.size() == 1U);
  BOOST_TEST(devices[0].index_there == 0);
  BOOST_TEST(devices[0].index_home == 12);
}

BOOST_AUTO_TEST_CASE(lines_of_another_kind_are_left_out) {
  for (const char* line : {"", " ", "leave", "leave web0 oci1", "leave web0 oci1 sideways",
                           "leave web0 oci1 up", "leave web0 oci1 up veth 1/2", "stay web0 oci1 up",
                           "there oci1 7", "home oci1 7", "back oci1"})
    BOOST_TEST(parse_journal(std::string(line) + "\n").empty(), line);
  for (const char* line :
       {"there oci1", "there oci1 0", "there oci1 -7", "there oci1 seven", "there oci1 7 8",
        "there oci1 99999999999", "home oci2 7", "back oci1 7"}) {
    const auto devices = parse_journal("leave web0 oci1 up veth\n" + std::string(line) + "\n");
    BOOST_TEST_REQUIRE(devices.size() == 1U);
    BOOST_TEST((devices[0].index_there == 0 && devices[0].index_home == 0 && !devices[0].is_back),
               line);
  }
}

BOOST_AUTO_TEST_CASE(a_record_that_does_not_fit_is_an_error) {
  const UniqueFd full(::open("/dev/full", O_RDWR | O_CLOEXEC));
  BOOST_TEST(must_fail(Journal(full).leaves(departure())).ends_with("no space left on device"));
}

BOOST_AUTO_TEST_SUITE_END()
