#include "criu/compare/mount_table.hpp"
#include "linux/mounts/mount_point.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

using Kind = MountPlace::Kind;

const std::vector<MountPlace> kPlaces{
    {.kind = Kind::kFilesystem, .point = "/proc", .type = "proc", .cgroup = {}, .visible = 0},
    {.kind = Kind::kReadOnly, .point = "/proc/sys", .type = {}, .cgroup = {}, .visible = 22},
    {.kind = Kind::kCompared, .point = "/proc/kcore", .type = {}, .cgroup = {}, .visible = 23},
    {.kind = Kind::kCompared, .point = "/data", .type = {}, .cgroup = {}, .visible = 24},
    {.kind = Kind::kTree, .point = "/tree", .type = {}, .cgroup = {}, .visible = 25},
    {.kind = Kind::kCgroup, .point = "/cg", .type = "cgroup", .cgroup = "/own", .visible = 26},
    {.kind = Kind::kDevice, .point = "/disk", .type = "ext4", .cgroup = {}, .visible = 0}};

constexpr std::string_view kTable =
    "20 10 0:33 /box / rw - ext4 /dev/vda rw\n21 20 0:34 / /proc rw - proc proc rw\n"
    "22 21 0:34 /sys /proc/sys ro - proc proc rw\n23 21 0:5 /null /proc/kcore rw - devtmpfs d rw\n"
    "24 20 0:36 /srv /data rw - ext4 /dev/vdb rw\n25 20 0:36 /t /tree rw - ext4 /dev/vdb rw\n"
    "26 20 0:40 / /cg ro - tmpfs cgroup rw\n27 26 0:41 /own /cg/cpu ro - cgroup cgroup rw\n"
    "28 20 8:1 /@ /disk rw - ext4 /dev/sda1 rw\n";

std::string refusal(std::string_view more) {
  const auto compared = compare_mount_table(kPlaces, std::string(kTable) + std::string(more));
  return compared ? "" : compared.error().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mount_table)

BOOST_AUTO_TEST_CASE(the_mounts_of_the_document_pass) {
  BOOST_TEST(must(compare_mount_table(kPlaces, kTable)).empty());
}

BOOST_AUTO_TEST_CASE(a_mount_beside_or_below_those_of_the_document_is_found) {
  BOOST_TEST(refusal("30 20 0:5 / /database rw - devtmpfs d rw\n")
                 .contains("type devtmpfs is mounted on /database"));
  BOOST_TEST(refusal("30 24 0:5 / /data/below rw - devtmpfs d rw\n")
                 .contains("type devtmpfs is mounted on /data/below"));
  BOOST_TEST(refusal("30 21 0:5 / /proc/1 rw - tmpfs d rw\n").contains("mounted on /proc/1"));
  BOOST_TEST(refusal("30 26 0:5 / /cg/memory rw - tmpfs d rw\n").contains("/cg/memory"));
  BOOST_TEST(refusal("30 26 0:42 /own/a /cg/memory rw - cgroup d rw\n") == "");
  BOOST_TEST(refusal("30 26 0:42 / /cg/memory rw - cgroup d rw\n").contains("/cg/memory"));
}

BOOST_AUTO_TEST_CASE(another_file_system_in_the_place_of_the_documents_is_found) {
  BOOST_TEST(refusal("30 20 0:5 / /proc rw - devtmpfs d rw\n")
                 .contains("/ of a file system of type devtmpfs is mounted on /proc"));
  BOOST_TEST(refusal("30 20 0:34 /1 /proc rw - proc d rw\n").contains("/1 of a file system"));
  BOOST_TEST(refusal("30 20 8:1 / /disk rw - xfs d rw\n").contains("mounted on /disk"));
  // Hidden by the mount that was compared: another directory, another file system.
  BOOST_TEST(refusal("30 20 0:36 / /data rw - ext4 /dev/vdb rw\n").contains("mounted on /data"));
  BOOST_TEST(refusal("30 20 0:37 /srv /data rw - ext4 d rw\n").contains("mounted on /data"));
  BOOST_TEST(refusal("30 20 0:36 /srv /data rw - ext4 /dev/vdb rw\n") == "");
}

BOOST_AUTO_TEST_CASE(a_read_only_path_is_a_mount_of_what_lies_there) {
  BOOST_TEST(refusal("30 21 0:34 /kmsg /proc/sys ro - proc p rw\n").contains("/proc/sys"));
  BOOST_TEST(refusal("30 21 0:36 /sys /proc/sys ro - ext4 d rw\n").contains("/proc/sys"));
  std::vector<MountPlace> places = kPlaces;
  places.push_back(
      {.kind = Kind::kReadOnly, .point = "/usr", .type = {}, .cgroup = {}, .visible = 0});
  const std::string table(kTable);
  BOOST_TEST(
      compare_mount_table(places, table + "30 20 0:33 /box/usr /usr ro - ext4 d rw\n").has_value());
  BOOST_TEST(
      !compare_mount_table(places, table + "30 20 0:33 /usr /usr ro - ext4 d rw\n").has_value());
}

BOOST_AUTO_TEST_CASE(what_lies_below_a_recursive_bind_is_for_the_caller_to_compare) {
  const auto below = must(compare_mount_table(
      kPlaces, std::string(kTable) + "30 25 0:50 / /tree/a\\040b rw - tmpfs d rw\n"));
  BOOST_TEST(below == std::vector<std::string>{"/tree/a b"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_path_lies_below_a_directory_by_whole_names) {
  BOOST_TEST(linux::is_at_or_below("/a/b", "/a"));
  BOOST_TEST(linux::is_at_or_below("/a", "/a"));
  BOOST_TEST(linux::is_at_or_below("/a", "/"));
  BOOST_TEST(!linux::is_at_or_below("/ab", "/a"));
  BOOST_TEST(!linux::is_at_or_below("/", "/a"));
}

BOOST_AUTO_TEST_SUITE_END()
