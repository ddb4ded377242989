#include "criu/dump/images.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "tests/criu/dump/image_text.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;
using linux::NamespaceKind;

namespace {

std::string image_mount(unsigned type, const std::string& point, const std::string& more = "") {
  return number(1, type) + text(7, point) + more;
}
// States of criu's processes.
constexpr unsigned kAlive = 1, kDead = 2, kStopped = 3;
std::string core(unsigned state, unsigned machine = 1) {
  return number(1, machine) + text(3, number(1, state));
}
std::string extent(unsigned inside, unsigned outside, unsigned size) {
  return number(1, inside) + number(2, outside) + number(3, size);
}

/// The images of two processes, 7 and 9. The first has a mount namespace of its own, 4, and no user
/// namespace.
struct ImagesOfTwo {
  ImagesOfTwo() {
    write("inventory.img", ImageKind::kInventory, {text(3, number(5, 1) + number(9, 99))});
    write("pstree.img", ImageKind::kProcesses, {number(1, 7) + number(2, 0), number(1, 9)});
    write("core-7.img", ImageKind::kCore, {core(kAlive)});
    write("core-9.img", ImageKind::kCore, {core(kDead)});
    write("ids-7.img", ImageKind::kIds, {number(5, 1) + number(9, 4) + number(10, 5)});
    write("mountpoints-4.img", ImageKind::kMounts,
          {image_mount(9, "./"), image_mount(5, "./tmp"),
           image_mount(0, "./data", text(18, "/data"))});
  }
  void write(const std::string& name, ImageKind kind,
             std::initializer_list<std::string> entries) const {
    scratch.file(name, image(kind, entries), 0600);
  }
  void remove(const std::string& name) const {
    BOOST_TEST_REQUIRE(::unlink((scratch / name).c_str()) == 0);
  }
  Result<Images> read(TrustImages trust = TrustImages::kYes,
                      SavedCgroups cgroups = SavedCgroups::kMade) const {
    const UniqueFd directory = scratch.open();
    return read_images(directory, trust, cgroups);
  }

  Scratch scratch;
};

std::string shown(const ImageMount& mount) {
  return mount.point + " " + mount.type + " " + mount.external;
}

std::vector<NamespaceKind> own_namespaces(const std::string& ids_of_criu, const std::string& ids) {
  const ImagesOfTwo images;
  images.write("inventory.img", ImageKind::kInventory, {text(3, ids_of_criu)});
  images.write("ids-7.img", ImageKind::kIds, {ids});
  return must(images.read()).own_namespaces;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(images)

BOOST_AUTO_TEST_CASE(processes_and_the_machine_are_read) {
  const ImagesOfTwo images;
  const Images found = must(images.read());
  BOOST_REQUIRE(found.processes.size() == 2U);
  BOOST_TEST(found.processes[0].pid == 7);
  BOOST_TEST(found.processes[1].pid == 9);
  BOOST_TEST(found.machine == "x86_64");
  BOOST_TEST(!found.has_cpu_features);
  BOOST_TEST(!found.id_map.has_value());
  images.scratch.file("cpuinfo.img", "");
  BOOST_TEST(must(images.read()).has_cpu_features);
  images.write("core-7.img", ImageKind::kCore, {core(kAlive, 3)});
  BOOST_TEST(must(images.read()).machine == "aarch64");
  images.write("core-7.img", ImageKind::kCore, {core(kAlive, 77)});
  BOOST_TEST(must(images.read()).machine == "");
}

BOOST_AUTO_TEST_CASE(threads_are_read) {
  const ImagesOfTwo images;
  images.write("pstree.img", ImageKind::kProcesses, {number(1, 7) + number(5, 7) + number(5, 8)});
  for (const unsigned state : {kAlive, kStopped}) {
    images.write("core-7.img", ImageKind::kCore, {core(state)});
    const Images found = must(images.read());
    BOOST_TEST(found.processes.front().threads == (std::vector<int>{7, 8}),
               boost::test_tools::per_element());
  }
}

// criu writes what was in its memory there, and makes no thread.
BOOST_AUTO_TEST_CASE(threads_of_a_dead_process_are_none) {
  const ImagesOfTwo images;
  for (const std::uint64_t thread :
       {std::uint64_t{0}, std::uint64_t{9}, std::uint64_t{374'821'984}}) {
    images.write("pstree.img", ImageKind::kProcesses,
                 {number(1, 7) + number(5, 7), number(1, 9) + number(5, thread)});
    BOOST_TEST(must(images.read()).processes.back().threads.empty(), thread);
  }
}

BOOST_AUTO_TEST_CASE(a_number_that_no_process_has_is_refused) {
  const ImagesOfTwo images;
  // The last one is a list of numbers in one field, which criu would read too.
  for (const std::string& process :
       {number(1, 7), number(1, 0), number(1, 0xFFFFFFFFU), number(1, 4'194'305),
        number(1, 7) + number(5, 0), number(1, 7) + number(5, std::uint64_t{1} << 40),
        number(1, 7) + text(5, "\x07")}) {
    images.write("pstree.img", ImageKind::kProcesses, {number(1, 7), process});
    BOOST_TEST(images.read().has_value() == (process == number(1, 7)));
  }
}

BOOST_AUTO_TEST_CASE(the_mounts_of_the_first_process_are_read) {
  const ImagesOfTwo images;
  images.write(
      "mountpoints-4.img", ImageKind::kMounts,
      {image_mount(9, "./"), image_mount(9, "."), image_mount(5, "./tmp"), image_mount(23, "/cg"),
       image_mount(16, "x", text(14, "ext4")), image_mount(77, "", text(14, "ext4")),
       image_mount(0, "./data", text(18, "/in config"))});
  images.write("mountpoints-8.img", ImageKind::kMounts, {image_mount(1, "./proc")});
  const std::vector<std::string> wanted{"/ securityfs ",    "/ securityfs ", "/tmp tmpfs ",
                                        "/cg cgroup2 ",     "/x ext4 ",      "/ type 77 ",
                                        "/data  /in config"};
  std::vector<std::string> mounts;
  for (const ImageMount& found : must(images.read()).mounts) mounts.push_back(shown(found));
  BOOST_TEST(mounts == wanted, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(all_mounts_are_those_of_each_mount_namespace) {
  const ImagesOfTwo images;
  images.write("files.img", ImageKind::kFiles, {});
  images.write("mountpoints-8.img", ImageKind::kMounts, {image_mount(1, "./proc")});
  const auto mounts = all_mounts(must(images.read(TrustImages::kNo)));
  BOOST_TEST(mounts.size() == 4U);
  BOOST_TEST(std::ranges::count(mounts, "/proc", &ImageMount::point) == 1);
  images.scratch.file("mountpoints-9.img", "x");
  BOOST_TEST(must_fail(images.read(TrustImages::kNo)).contains("mountpoints-9.img"));
  BOOST_TEST(images.read(TrustImages::kYes).has_value());
}

BOOST_AUTO_TEST_CASE(damaged_images_have_to_be_copied_again) {
  const ImagesOfTwo images;
  BOOST_TEST(must_fail(images.read(TrustImages::kNo)).contains("copy them again"));  // files.img
  images.write("files.img", ImageKind::kFiles, {});
  images.write("apparmor.img", ImageKind::kAppArmor, {"", text(1, "..")});
  BOOST_TEST(must(images.read(TrustImages::kNo)).has_apparmor_policies);
  images.scratch.file("apparmor.img", "no image", 0600);
  BOOST_TEST(must_fail(images.read(TrustImages::kNo)).contains("copy them again"));
}

BOOST_AUTO_TEST_CASE(cgroups_that_criu_ignores_are_not_read) {
  const ImagesOfTwo images;
  images.write("files.img", ImageKind::kFiles, {});
  images.scratch.file("cgroup.img", "no image", 0600);
  BOOST_TEST(must_fail(images.read(TrustImages::kNo)).contains("cgroup.img"));
  must(images.read(TrustImages::kNo, SavedCgroups::kIgnored));
}

BOOST_AUTO_TEST_CASE(network_devices_are_noticed) {
  const ImagesOfTwo images;
  BOOST_TEST(!must(images.read()).has_network_devices);
  images.scratch.file("netdev-9.img", "");
  BOOST_TEST(must(images.read()).has_network_devices);
}

BOOST_AUTO_TEST_CASE(the_map_of_the_user_namespace_is_read) {
  const ImagesOfTwo images;
  images.write("userns-5.img", ImageKind::kUserNamespace,
               {text(1, extent(0, 100, 5)) + text(2, extent(1, 200, 6)) +
                text(1, extent(5, 300, 0xFFFFFFFFU))});
  images.write("userns-6.img", ImageKind::kUserNamespace, {""});
  const auto map = must(images.read()).id_map;
  BOOST_TEST_REQUIRE(map.has_value());
  const linux::IdMap wanted{.uids = {{0, 100, 5}, {5, 300, 0xFFFFFFFFU}}, .gids = {{1, 200, 6}}};
  BOOST_TEST((*map == wanted));
  images.write("userns-5.img", ImageKind::kUserNamespace, {text(2, "x")});
  BOOST_TEST(images.read().error().number() == EBADMSG);
}

BOOST_AUTO_TEST_CASE(a_number_beyond_32_bits_stays_too_large) {
  const ImagesOfTwo images;
  const std::string huge =
      number(1, std::uint64_t{1} << 32) + number(2, std::uint64_t{1} << 40) + number(3, 1);
  images.write("userns-5.img", ImageKind::kUserNamespace, {text(1, huge)});
  const auto map = must(images.read()).id_map;
  BOOST_TEST((map->uids == std::vector<linux::IdMapping>{{0xFFFFFFFFU, 0xFFFFFFFFU, 1}}));
}

BOOST_AUTO_TEST_CASE(own_namespaces_are_those_that_criu_was_not_in) {
  constexpr std::pair<NamespaceKind, unsigned> kFields[] = {
      {NamespaceKind::kPid, 5},   {NamespaceKind::kNetwork, 6}, {NamespaceKind::kIpc, 7},
      {NamespaceKind::kUts, 8},   {NamespaceKind::kUser, 10},   {NamespaceKind::kCgroup, 11},
      {NamespaceKind::kTime, 12}, {NamespaceKind::kMount, 9}};
  std::string all;
  for (unsigned field = 5; field <= 12; ++field) all += number(field, 4);
  BOOST_TEST(own_namespaces(all, all).empty());
  // The images are those of mount namespace 4, so criu's has another number.
  for (const auto& [kind, field] : kFields) {
    const std::string other = all + number(field, 77);
    const auto own = field == 9 ? own_namespaces(other, all) : own_namespaces(all, other);
    BOOST_TEST((own == std::vector{kind}), field);
  }
}

BOOST_AUTO_TEST_CASE(a_missing_image_is_named) {
  for (const char* name : {"core-7.img", "core-9.img", "ids-7.img", "mountpoints-4.img"}) {
    const ImagesOfTwo images;
    images.remove(name);
    BOOST_TEST(must_fail(images.read()).contains(name));
  }
  const ImagesOfTwo images;
  images.remove("pstree.img");
  BOOST_TEST(must_fail(images.read()).contains("these are the images of a pre-dump"));
  images.remove("inventory.img");
  BOOST_TEST(must_fail(images.read()).contains("the directory holds no images of criu"));
}

BOOST_AUTO_TEST_CASE(a_damaged_image_is_named) {
  for (const char* name : {"inventory.img", "pstree.img", "core-7.img", "core-9.img", "ids-7.img",
                           "mountpoints-4.img", "userns-5.img"}) {
    const ImagesOfTwo images;
    images.write("userns-5.img", ImageKind::kUserNamespace, {""});
    const std::string whole = slurp(images.scratch / name);
    must(images.read());
    for (const std::string& bad : {whole + "x", whole.substr(0, 3), std::string("")}) {
      images.scratch.file(name, bad);
      const auto found = images.read();
      BOOST_TEST_REQUIRE(!found);
      BOOST_TEST(found.error().number() == EBADMSG, name);
      BOOST_TEST(found.error().message().contains(name));
    }
    // No entry at all.
    const bool is_inventory = std::string_view(name) == "inventory.img";
    images.scratch.file(name, whole.substr(0, is_inventory ? 4 : 8));
    BOOST_TEST(must_fail(images.read()).contains(std::string(name) + ": the image is empty"));
  }
}

BOOST_AUTO_TEST_CASE(a_message_in_the_inventory_that_is_damaged_is_an_error) {
  const ImagesOfTwo images;
  images.write("inventory.img", ImageKind::kInventory, {text(3, "x")});
  BOOST_TEST(images.read().error().number() == EBADMSG);
}

BOOST_AUTO_TEST_CASE(an_image_is_no_symlink_and_not_larger_than_the_limit) {
  const ImagesOfTwo images;
  BOOST_TEST_REQUIRE(
      ::rename((images.scratch / "core-7.img").c_str(), (images.scratch / "core").c_str()) == 0);
  BOOST_TEST_REQUIRE(::symlink("core", (images.scratch / "core-7.img").c_str()) == 0);
  BOOST_TEST(images.read().error().number() == ELOOP);
  images.remove("core-7.img");
  // The entry has one large field, of zeros, so that nothing but the size of the file is too large.
  for (const std::size_t size : {kMostImageBytes, kMostImageBytes + 1}) {
    constexpr std::size_t kBefore = 17;  // three words, and the field's tag and length
    const std::string entry = varint(2 << 3 | 2) + varint(size - kBefore);
    images.scratch.file("core-7.img", word(0x54564319) +
                                          word(static_cast<std::uint32_t>(ImageKind::kCore)) +
                                          word(static_cast<std::uint32_t>(size - 12)) + entry);
    BOOST_TEST_REQUIRE(
        ::truncate((images.scratch / "core-7.img").c_str(), static_cast<off_t>(size)) == 0);
    const auto found = images.read();
    BOOST_TEST((found ? 0 : found.error().number()) == (size == kMostImageBytes ? 0 : EFBIG));
  }
}

BOOST_AUTO_TEST_SUITE_END()
