#include "linux/files/mountinfo.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(mountinfo)

BOOST_AUTO_TEST_CASE(each_mount_is_told_with_root_place_type_and_options) {
  std::string_view rest =
      "36 31 0:33 /a /sys/fs/cgroup/memory rw,nosuid shared:9 master:2 - cgroup cgroup rw,memory\n"
      "40 31 0:5 / /mnt/a\\040- rw - tmpfs none rw\n"
      "41 31 0:5 / / rw - tmpfs";
  auto entry = next_mount(rest);
  BOOST_REQUIRE(entry);
  BOOST_TEST(entry->root == "/a");
  BOOST_TEST(entry->mount_point == "/sys/fs/cgroup/memory");
  BOOST_TEST(entry->type == "cgroup");
  BOOST_TEST(entry->options == "rw,memory");
  entry = next_mount(rest);
  BOOST_REQUIRE(entry);
  BOOST_TEST(entry->mount_point == "/mnt/a\\040-");
  BOOST_TEST(entry->type == "tmpfs");
  entry = next_mount(rest);
  BOOST_REQUIRE(entry);
  BOOST_TEST(entry->mount_point == "/");
  BOOST_TEST(entry->options == "");
  BOOST_TEST(!next_mount(rest));
}

BOOST_AUTO_TEST_CASE(lines_of_another_form_are_passed_over) {
  std::string_view rest = "\n\njunk\n1 2 3 - tmpfs none rw\n1 2 3 / /x rw -\n1 2 3 / /y rw - t\n";
  const auto entry = next_mount(rest);
  BOOST_REQUIRE(entry);
  BOOST_TEST(entry->mount_point == "/y");
  BOOST_TEST(!next_mount(rest));
}

BOOST_AUTO_TEST_CASE(what_is_written_in_octal_is_read_back) {
  BOOST_TEST(unescape_path("/a\\040b\\011\\012\\134c") == "/a b\t\n\\c");
  BOOST_TEST(unescape_path("/a\\04") == "/a\\04");
  BOOST_TEST(unescape_path("/a\\089") == "/a\\089");
  BOOST_TEST(unescape_path("\\") == "\\");
}

// More than procfs files have elsewhere: 3,000 mounts at a path of 400 letters are over 1 MiB.
OCIRUN_CHILD_TEST(a_host_of_many_mounts_is_read_whole, CLONE_NEWNS) {
  const Scratch scratch;
  std::string path = scratch.path();
  BOOST_REQUIRE(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
  BOOST_REQUIRE(::mount("none", path.c_str(), "tmpfs", 0, nullptr) == 0);
  for (const char letter : {'a', 'b'}) {
    path += "/" + std::string(200, letter);
    BOOST_REQUIRE(::mkdir(path.c_str(), 0700) == 0);
  }
  constexpr int kMounts = 3000;
  for (int i = 0; i < kMounts; ++i)
    BOOST_REQUIRE(::mount("none", path.c_str(), "tmpfs", 0, nullptr) == 0);
  const std::string text = must(read_mountinfo(must(Procfs::open(Procfs::Subset::kProcesses))));
  BOOST_TEST(text.size() > 1U << 20);
  int found = 0;
  for (std::string_view rest = text; const auto entry = next_mount(rest);)
    found += unescape_path(entry->mount_point) == path ? 1 : 0;
  BOOST_TEST(found == kMounts);
  BOOST_REQUIRE(::umount2(scratch.path().c_str(), MNT_DETACH) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
