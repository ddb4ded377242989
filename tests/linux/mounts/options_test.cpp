#include "linux/mounts/options.hpp"

#include <linux/mount.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <sstream>

#include "linux/mounts/detached_mount.hpp"

using namespace ocirun::linux;

namespace {

Mount read_options(const std::string& words) {
  Mount mount;
  std::istringstream stream(words);
  for (std::string word; std::getline(stream, word, ',');) apply_mount_option(mount, word);
  return mount;
}

// config.md's option table, and rnodev of features.md.
constexpr const char* kSpecified =
    "async atime bind defaults dev diratime dirsync exec iversion lazytime loud mand noatime nodev "
    "nodiratime noexec noiversion nolazytime nomand norelatime nostrictatime nosuid nosymfollow "
    "private ratime rbind rdev rdiratime relatime remount rexec rnoatime rnodiratime rnoexec "
    "rnorelatime rnostrictatime rnosuid rnosymfollow ro rprivate rrelatime rro rrw rshared rslave "
    "rstrictatime rsuid rsymfollow runbindable rw shared silent slave strictatime suid symfollow "
    "sync tmpcopyup unbindable idmap ridmap rnodev";

}  // namespace

BOOST_AUTO_TEST_SUITE(mount_options)

BOOST_AUTO_TEST_CASE(every_option_of_the_specification_is_known) {  // F-5, option table
  const auto names = known_mount_options();
  const std::set<std::string> known(names.begin(), names.end());
  std::istringstream stream(kSpecified);
  std::size_t count = 0;
  for (std::string name; stream >> name; ++count)
    BOOST_TEST(known.contains(name), name << " is missing");
  BOOST_TEST(count == 62u);
  BOOST_TEST(known.size() == count);
  BOOST_TEST(std::ranges::is_sorted(names));
}

BOOST_AUTO_TEST_CASE(known_options_never_become_data) {  // M-6
  Mount mount;
  for (std::string_view name : known_mount_options())
    BOOST_TEST((apply_mount_option(mount, name) == MountOptionUse::kApplied), name);
  BOOST_TEST(mount.data.empty());
}

BOOST_AUTO_TEST_CASE(unknown_options_become_data_in_their_order) {  // M-6
  const Mount mount = read_options("size=65536k,nosuid,mode=755,acl,rsync,copy-symlink");
  const std::vector<std::string> expected = {"size=65536k", "mode=755", "acl", "rsync",
                                             "copy-symlink"};
  BOOST_TEST(mount.data == expected, boost::test_tools::per_element());
  BOOST_TEST(mount.attributes.set == std::uint64_t{MOUNT_ATTR_NOSUID});
}

BOOST_AUTO_TEST_CASE(an_option_is_matched_as_a_whole_word) {
  const Mount mount = read_options("RO,r,ro ,rossi,ro=1");
  BOOST_TEST(mount.attributes.empty());
  BOOST_TEST(mount.data.size() == 5u);
}

BOOST_AUTO_TEST_CASE(the_later_of_two_opposites_wins) {
  BOOST_TEST((read_options("ro,rw").attributes == MountAttributes{0, MOUNT_ATTR_RDONLY}));
  BOOST_TEST((read_options("rw,ro").attributes == MountAttributes{MOUNT_ATTR_RDONLY, 0}));
  BOOST_TEST(read_options("sync,async").superblock_flags == 0u);
  BOOST_TEST(read_options("sync,async").superblock_clear == std::uint64_t{MS_SYNCHRONOUS});
  BOOST_TEST((read_options("rshared,private").propagation == Propagation::kPrivate));
  BOOST_TEST(!read_options("rshared,private").propagation_recursive);
}

BOOST_AUTO_TEST_CASE(recursive_options_leave_the_mounts_own_attributes_alone) {
  const Mount mount = read_options("rro,rnosuid,rsuid");
  BOOST_TEST(mount.attributes.empty());
  BOOST_TEST((mount.recursive_attributes == MountAttributes{MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID}));
}

BOOST_AUTO_TEST_CASE(every_change_of_the_atime_mode_clears_the_whole_mode) {  // trap 9
  for (const char* option : {"noatime", "strictatime", "relatime", "atime", "nostrictatime"}) {
    const MountAttributes plain = read_options(option).attributes;
    BOOST_TEST((plain.clear & MOUNT_ATTR__ATIME) == std::uint64_t{MOUNT_ATTR__ATIME}, option);
    const MountAttributes below = read_options(std::string("r") + option).recursive_attributes;
    BOOST_TEST((below == plain), option);
  }
  BOOST_TEST(read_options("noatime").attributes.set == std::uint64_t{MOUNT_ATTR_NOATIME});
  BOOST_TEST(read_options("noatime,strictatime").attributes.set ==
             std::uint64_t{MOUNT_ATTR_STRICTATIME});
}

BOOST_AUTO_TEST_CASE(a_negated_atime_mode_takes_back_that_mode_only) {
  BOOST_TEST(read_options("strictatime,atime").attributes.set ==
             std::uint64_t{MOUNT_ATTR_STRICTATIME});
  BOOST_TEST(read_options("noatime,atime").attributes.set == 0u);
  BOOST_TEST(read_options("relatime,norelatime").attributes.empty());
  BOOST_TEST(read_options("noatime,norelatime").attributes.set ==
             std::uint64_t{MOUNT_ATTR_NOATIME});
  BOOST_TEST(read_options("norelatime").attributes.empty());
}

BOOST_AUTO_TEST_CASE(nodiratime_is_a_bit_beside_the_atime_mode) {
  const MountAttributes attributes = read_options("nodiratime,noatime").attributes;
  BOOST_TEST(attributes.set == (std::uint64_t{MOUNT_ATTR_NODIRATIME} | MOUNT_ATTR_NOATIME));
}

BOOST_AUTO_TEST_CASE(bind_rbind_and_id_maps_are_told_apart) {
  BOOST_TEST(read_options("bind").bind);
  BOOST_TEST(!read_options("bind").recursive);
  BOOST_TEST(read_options("rbind").bind);
  BOOST_TEST(read_options("rbind").recursive);
  BOOST_TEST((read_options("idmap").id_map_kind == IdMapKind::kMount));
  BOOST_TEST((read_options("ridmap").id_map_kind == IdMapKind::kRecursive));
}

BOOST_AUTO_TEST_CASE(a_label_is_told_from_other_options_and_loses_its_quotes) {  // L-34
  constexpr std::string_view label = "a:b:c:s0:c1,c2";
  for (const char* name : {"context", "fscontext", "defcontext", "rootcontext"}) {
    BOOST_TEST(label_of(fmt::format("{}={}", name, label)) == label);
    BOOST_TEST(label_of(fmt::format("{}=\"{}\"", name, label)) == label);
  }
  for (const char* other : {"mode=755", "context", "xcontext=a", "context=", "context=\"\""})
    BOOST_TEST(label_of(other) == "");
  BOOST_TEST(label_of("context=\"") == "\"");
}

BOOST_AUTO_TEST_SUITE_END()
