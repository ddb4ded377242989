#include "criu/dump/mounts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/test/unit_test.hpp>

#include "criu/dump/check.hpp"
#include "tests/criu/dump/image_text.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

// The numbers of criu's file systems.
constexpr unsigned kNone = 0, kProc = 1, kDevtmpfs = 3, kBinfmtMisc = 4, kTmpfs = 5, kCgroup = 12;
constexpr unsigned kAuto = 16, kOverlay = 17, kCgroup2 = 23;

/// A mount with the number 50 on /opt, of a whole file system; `more` are further fields.
std::string mount(std::uint64_t type, const std::string& more = "") {
  return number(1, type) + number(2, 50) + number(3, 7) + number(4, 1) + text(6, "/") +
         text(7, "./opt") + text(8, "none") + more;
}
std::string root(unsigned type) {
  return number(1, type) + number(2, 1) + number(3, 9) + number(4, 0) + text(6, "/") +
         text(7, "./") + text(8, "overlay") + text(9, "lowerdir=/layers");
}

/// The images of a process in the mount namespace 4.
struct MountImages {
  MountImages() {
    write("inventory.img", ImageKind::kInventory, {text(3, number(9, 99))});
    write("pstree.img", ImageKind::kProcesses, {number(1, 7) + number(2, 0)});
    write("core-7.img", ImageKind::kCore, {number(1, 1)});
    write("ids-7.img", ImageKind::kIds, {number(9, 4) + number(10, 5)});
    write("mountpoints-4.img", ImageKind::kMounts, {root(kOverlay)});
    write("files.img", ImageKind::kFiles, {});
    config.root_path = HostPath("/");
  }
  void write(const std::string& name, ImageKind kind,
             std::initializer_list<std::string> entries) const {
    scratch.file(name, image(kind, entries), 0600);
  }
  /// The error of images with this mount as well; "" for none.
  std::string refusal(const std::string& mount) const {
    write("mountpoints-4.img", ImageKind::kMounts, {root(kOverlay), mount});
    return refusal();
  }
  std::string refusal() const {
    const UniqueFd directory = scratch.open();
    const auto read = read_images(directory, TrustImages::kNo, SavedCgroups::kMade);
    if (!read) return read.error().message();
    Obstacles obstacles;
    must(check_images(*read, config, SavedCgroups::kMade, obstacles));
    return fmt::format("{}", fmt::join(obstacles, "; "));
  }
  void document(const std::string& type, const std::string& source,
                std::vector<std::string> data = {}) {
    linux::Mount wanted;
    wanted.destination = RootfsPath("/opt");
    wanted.type = type;
    wanted.source = source;
    wanted.data = std::move(data);
    config.mounts.push_back(std::move(wanted));
  }

  bundle::Config config;
  Scratch scratch;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(image_mounts)

BOOST_AUTO_TEST_CASE(file_systems_of_the_container_alone_pass) {
  const MountImages images;
  for (const unsigned type :
       {kNone, kProc, 2U, kTmpfs, 6U, 8U, 9U, 10U, 11U, kCgroup, 14U, 18U, 19U, kCgroup2})
    BOOST_TEST(images.refusal(mount(type)) == "", type);
  BOOST_TEST(images.refusal(mount(kAuto, text(14, "tmpfs"))) == "");
}

BOOST_AUTO_TEST_CASE(file_systems_that_may_show_files_of_the_host_are_refused_by_name) {
  const MountImages images;
  constexpr std::pair<unsigned, const char*> kTypes[] = {
      {13, "aufs"}, {15, "fuse"}, {kOverlay, "overlay"}, {7, "simfs"}};
  for (const auto& [type, name] : kTypes) {
    const std::string error = images.refusal(mount(type));
    const std::string wanted = fmt::format("of type \"{}\" on \"/opt\": it could show", name);
    BOOST_TEST(error.contains(wanted), error);
  }
}

BOOST_AUTO_TEST_CASE(those_of_which_the_host_has_one_are_refused_even_if_the_document_has_them) {
  MountImages images;
  images.document("devtmpfs", "none");
  images.document("binfmt_misc", "none");
  for (const std::string& hosts :
       {mount(kDevtmpfs), mount(kBinfmtMisc), mount(kAuto, text(14, "devtmpfs"))}) {
    const std::string error = images.refusal(hosts);
    BOOST_TEST(error.contains("on \"/opt\": the host has only one"), error);
  }
}

BOOST_AUTO_TEST_CASE(a_type_counts_as_criu_reads_it) {
  const MountImages images;
  BOOST_TEST((images.refusal(mount((std::uint64_t{1} << 32) + kDevtmpfs))).contains("devtmpfs"));
  BOOST_TEST(images.refusal(mount(99)).contains("\"type 99\""));
  BOOST_TEST(images.refusal(mount(kTmpfs, number(1, kDevtmpfs))).contains("devtmpfs"));
}

BOOST_AUTO_TEST_CASE(each_mount_namespace_is_checked) {
  const MountImages images;
  images.write("mountpoints-8.img", ImageKind::kMounts, {mount(kTmpfs)});
  BOOST_TEST(images.refusal() == "");
  images.write("mountpoints-8.img", ImageKind::kMounts, {mount(kTmpfs), mount(kDevtmpfs)});
  BOOST_TEST(images.refusal().contains("devtmpfs"));
}

BOOST_AUTO_TEST_CASE(what_criu_binds_may_be_of_any_type) {
  const MountImages images;
  BOOST_TEST(images.refusal(mount(kDevtmpfs, text(18, "/dev/null"))) == "");
  BOOST_TEST(images.refusal(mount(kDevtmpfs, text(6, "/null"))) == "");
  BOOST_TEST(
      images.refusal(mount(kDevtmpfs, text(18, "CRIU:EXTERNAL_DEV_MOUNT"))).contains("devtmpfs"));
  BOOST_TEST(images.refusal(mount(kDevtmpfs, text(6, "./"))).contains("devtmpfs"));
}

BOOST_AUTO_TEST_CASE(only_the_mount_without_a_parent_is_the_root) {
  const MountImages images;
  const std::string second = mount(kDevtmpfs, text(7, "./"));
  BOOST_TEST(images.refusal(second).contains("devtmpfs"));
  images.write("mountpoints-4.img", ImageKind::kMounts, {root(kDevtmpfs)});
  BOOST_TEST(images.refusal() == "");
}

BOOST_AUTO_TEST_CASE(the_root_of_another_mount_namespace_is_no_exception) {
  const MountImages images;
  images.write("mountpoints-8.img", ImageKind::kMounts, {root(kOverlay)});
  BOOST_TEST(images.refusal() == "");
  const std::string whole = root(kDevtmpfs) + text(6, "/");
  images.write("mountpoints-8.img", ImageKind::kMounts, {whole});
  BOOST_TEST(images.refusal().contains("devtmpfs"));
  images.write("mountpoints-8.img", ImageKind::kMounts, {mount(kTmpfs, text(7, "./../x"))});
  BOOST_TEST(images.refusal().contains("/../x"));
  images.write("mountpoints-8.img", ImageKind::kMounts,
               {mount(kCgroup, text(9, "release_agent=/x"))});
  BOOST_TEST(images.refusal().contains("release_agent=/x"));
}

BOOST_AUTO_TEST_CASE(a_damaged_image_is_an_error) {
  const MountImages images;
  images.write("mountpoints-8.img", ImageKind::kIds, {mount(kTmpfs)});
  BOOST_TEST(images.refusal().contains("mountpoints-8.img"));
  images.write("mountpoints-4.img", ImageKind::kIds, {root(kOverlay)});
  BOOST_TEST(images.refusal().contains("mountpoints-4.img"));
}

BOOST_AUTO_TEST_CASE(a_type_by_its_name_is_one_of_the_document) {
  MountImages images;
  const std::string disk =
      mount(kAuto, text(14, "ext4") + text(8, "/dev/sda1") + text(9, "errors=ro,journal=/dev/sdb"));
  BOOST_TEST(images.refusal(disk).contains("\"ext4\" on \"/opt\": it could show files"));
  images.document("ext4", "/dev/sda2", {"journal=/dev/sdb"});
  BOOST_TEST(images.refusal(disk) != "");
  images.document("ext4", "/dev/sda1");
  BOOST_TEST(images.refusal(disk) != "");
  images.document("ext4", "/dev/sda1", {"journal=/dev/sdb"});
  BOOST_TEST(images.refusal(disk) == "");
}

BOOST_AUTO_TEST_CASE(an_entry_of_the_document_fits_by_type_and_is_no_bind) {
  MountImages images;
  const std::string disk = mount(kAuto, text(14, "ext4") + text(8, "/dev/sda1"));
  images.document("xfs", "/dev/sda1");
  BOOST_TEST(images.refusal(disk) != "");
  images.document("ext4", "/dev/sda1");
  images.config.mounts.back().bind = true;
  BOOST_TEST(images.refusal(disk) != "");
  images.config.mounts.back().bind = false;
  BOOST_TEST(images.refusal(disk) == "");
}

BOOST_AUTO_TEST_CASE(each_option_with_a_path_is_in_the_document) {
  MountImages images;
  images.document("ext4", "/dev/sda1", {"one=/a", "two=/b"});
  const auto refusal = [&](const std::string& options) {
    return images.refusal(mount(kAuto, text(14, "ext4") + text(8, "/dev/sda1") + text(9, options)));
  };
  BOOST_TEST(refusal("two=/b,noload,one=/a") == "");
  BOOST_TEST(refusal("one=/a,two=/c") != "");
  BOOST_TEST(refusal("one=/a/b") != "");
  BOOST_TEST(refusal("/a") != "");
}

BOOST_AUTO_TEST_CASE(an_overlay_is_the_root_again_or_one_of_the_document) {
  MountImages images;
  const auto overlay = [](unsigned device, const std::string& options) {
    return mount(kOverlay, number(3, device) + text(8, "overlay") + text(9, options));
  };
  BOOST_TEST(images.refusal(overlay(9, "lowerdir=/layers")) == "");
  BOOST_TEST(images.refusal(overlay(8, "lowerdir=/layers")) != "");
  BOOST_TEST(images.refusal(overlay(9, "lowerdir=/etc")) != "");
  BOOST_TEST(images.refusal(mount(
                 kOverlay, number(3, 9) + text(8, "other") + text(9, "lowerdir=/layers"))) != "");
  images.document("overlay", "overlay", {"lowerdir=/etc"});
  BOOST_TEST(images.refusal(overlay(9, "rw,lowerdir=/etc")) == "");
  BOOST_TEST(images.refusal(overlay(9, "rw,lowerdir=/etc,upperdir=tmp")) != "");
}

BOOST_AUTO_TEST_CASE(the_root_is_there_again_only_if_both_are_overlays) {
  const MountImages images;
  const std::string disk = text(14, "ext4");
  const std::string same = number(3, 9) + text(8, "overlay") + text(9, "lowerdir=/layers");
  images.write("mountpoints-4.img", ImageKind::kMounts,
               {root(kAuto) + disk, mount(kAuto, disk + same)});
  BOOST_TEST(images.refusal().contains("\"ext4\" on \"/opt\""));
  images.write("mountpoints-4.img", ImageKind::kMounts,
               {root(kAuto) + disk, mount(kOverlay, same)});
  BOOST_TEST(images.refusal().contains("\"overlay\" on \"/opt\""));
}

BOOST_AUTO_TEST_CASE(a_root_that_is_a_part_of_an_overlay_is_not_there_again_as_a_whole) {
  const MountImages images;
  const std::string whole =
      mount(kOverlay, number(3, 9) + text(8, "overlay") + text(9, "lowerdir=/layers"));
  BOOST_TEST(images.refusal(whole) == "");
  images.write("mountpoints-4.img", ImageKind::kMounts, {root(kOverlay) + text(6, "/box"), whole});
  BOOST_TEST(images.refusal().contains("\"overlay\" on \"/opt\""));
}

BOOST_AUTO_TEST_CASE(a_hierarchy_of_cgroups_brings_no_program) {
  const MountImages images;
  BOOST_TEST(images.refusal(mount(kCgroup, text(9, "xattr,name=systemd"))) == "");
  BOOST_TEST(images.refusal(mount(kCgroup, text(9, "none,release_agent=/x")))
                 .contains("with the option \"release_agent=/x\""));
  BOOST_TEST(images.refusal(mount(kCgroup2, text(9, "release_agent=/x"))).contains("\"/opt\""));
  const std::string bound = text(18, "/opt") + text(9, "name=a,release_agent=/x");
  BOOST_TEST(images.refusal(mount(kCgroup, bound)).contains("release_agent"));
  BOOST_TEST(images.refusal(mount(kTmpfs, text(9, "size=4k"))) == "");
}

BOOST_AUTO_TEST_CASE(no_flag_makes_another_call_of_a_mount) {
  const MountImages images;
  constexpr unsigned kFlags = 5, kSuperblockFlags = 17;
  constexpr unsigned kRemount = 32, kBind = 4096, kMove = 8192, kRecursive = 16384;
  constexpr unsigned kNosuid = 2, kShared = 1U << 20;
  for (const unsigned field : {kFlags, kSuperblockFlags}) {
    BOOST_TEST(images.refusal(mount(kTmpfs, number(field, kNosuid))) == "");
    for (const unsigned flag : {kRemount, kBind, kMove, kRecursive})
      BOOST_TEST(images.refusal(mount(kTmpfs, number(field, kNosuid | flag)))
                     .contains(fmt::format("\"/opt\" with the flags {:#x}", flag)));
  }
  BOOST_TEST(images.refusal(mount(kTmpfs, number(kFlags, kShared))) == "");
  BOOST_TEST(images.refusal(mount(kTmpfs, number(kSuperblockFlags, kShared))).contains("0x100000"));
  BOOST_TEST(
      (images.refusal(mount(kNone, text(18, "/data") + number(kFlags, kBind)))).contains("0x1000"));
}

BOOST_AUTO_TEST_CASE(no_text_goes_on_after_its_end) {
  const MountImages images;
  for (const unsigned field : {6U, 7U, 8U, 9U, 14U, 18U})
    BOOST_TEST(images.refusal(mount(kTmpfs, text(field, std::string("/\0x", 3))))
                   .contains(fmt::format("field {} of a mount holds a NUL", field)));
}

BOOST_AUTO_TEST_CASE(no_path_leads_up) {
  const MountImages images;
  BOOST_TEST(images.refusal(mount(kTmpfs, text(6, "/../etc"))).contains("\"/../etc\""));
  BOOST_TEST(images.refusal(mount(kTmpfs, text(7, "./a/../b"))).contains("/a/../b"));
  BOOST_TEST(images.refusal(mount(kTmpfs, text(7, "./.."))).contains("criu would follow"));
  BOOST_TEST((images.refusal(mount(kNone, text(18, "/x") + text(6, "..")))).contains("\"..\""));
  BOOST_TEST(images.refusal(mount(kTmpfs, text(7, "./..a/b..") + text(6, "/..."))) == "");
}

BOOST_AUTO_TEST_CASE(policies_of_apparmor_are_refused) {
  const MountImages images;
  images.write("apparmor.img", ImageKind::kAppArmor, {""});
  BOOST_TEST(images.refusal() == "");
  images.write("apparmor.img", ImageKind::kAppArmor, {});
  BOOST_TEST(images.refusal() == "");
  images.write("apparmor.img", ImageKind::kAppArmor, {"", text(1, text(1, ".."))});
  images.write("apparmor.img", ImageKind::kAppArmor, {text(1, text(1, ".."))});
  BOOST_TEST(images.refusal().contains("apparmor.img: criu would load"));
  images.write("apparmor.img", ImageKind::kMounts, {});
  BOOST_TEST(images.refusal().contains("apparmor.img"));
  std::filesystem::remove(images.scratch / "apparmor.img");
  BOOST_TEST(images.refusal() == "");
  images.write("empty.img", ImageKind::kAppArmor, {});
  std::filesystem::create_symlink("empty.img", images.scratch / "apparmor.img");
  BOOST_TEST(images.refusal().contains("apparmor.img"));
}

BOOST_AUTO_TEST_SUITE_END()
