#include "runtime/inspect/mount_table.hpp"

#include <boost/test/unit_test.hpp>

using namespace ocirun::runtime;

namespace {

const MountTable table(
    "36 31 0:33 / / rw,relatime - ext4 /dev/sda rw\n"
    "40 36 0:34 / /data ro,nosuid,nodev shared:7 - tmpfs none rw\n"
    "41 40 0:35 /x\\040y /data rw master:7 - xfs /dev/sdb rw\n"
    "no mount\n");

}  // namespace

BOOST_AUTO_TEST_SUITE(mount_table)

BOOST_AUTO_TEST_CASE(the_last_mount_on_a_point_covers_the_others) {
  BOOST_REQUIRE(table.at("/data") != nullptr);
  BOOST_TEST(table.at("/data")->id == 41);
  BOOST_TEST(table.at("/data")->root == "/x y");
  BOOST_TEST(table.count_at("/data") == 2);
  BOOST_TEST(table.count_at("/") == 1);
  BOOST_TEST(table.at("/none") == nullptr);
}

BOOST_AUTO_TEST_CASE(a_mount_is_found_by_its_id) {
  BOOST_REQUIRE(table.with_id(40) != nullptr);
  BOOST_TEST(table.with_id(40)->type == "tmpfs");
  BOOST_TEST(table.with_id(40)->propagation == "shared:7");
  BOOST_TEST(table.with_id(1) == nullptr);
}

BOOST_AUTO_TEST_CASE(the_text_has_the_attributes_that_protect) {
  BOOST_TEST(table.with_id(40)->text() == "tmpfs ro,nosuid,nodev");
  BOOST_TEST(table.with_id(36)->text() == "ext4 rw");
  BOOST_TEST(!table.with_id(40)->has("no"));
}

BOOST_AUTO_TEST_SUITE_END()
