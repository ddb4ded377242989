#include "criu/request/read_only_host.hpp"

#include "tests/linux/mounts/scene.hpp"

// The host of these tests is a tmpfs on /tmp/host or on /mnt, in a mount namespace of the test.

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;
namespace fs = std::filesystem;
using linux::Recursion;

namespace {

bool can_write(const std::string& directory) {
  const UniqueFd made(::open((directory + "/made").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  return static_cast<bool>(made);
}

struct Host {
  Host() {
    must(linux::sys::mount("tmpfs", "/mnt", "tmpfs", 0, nullptr));
    fs::create_directories("/mnt/bundle/rootfs/tmp");
    fs::create_directories("/mnt/other");
    must(linux::sys::mount("tmpfs", "/mnt/bundle/rootfs/tmp", "tmpfs", 0, nullptr));
    Scene::write("/mnt/bundle/rootfs/file", "kept");
    Scene::write("/mnt/bundle/rootfs/tmp/below", "mounted");
  }
  Result<void> close(const std::vector<std::string>& needed = {}) {
    return host.close(procfs, needed);
  }

  ReadOnlyHost host;
  linux::Procfs procfs = must(linux::Procfs::open(linux::Procfs::Subset::kProcesses));
};

}  // namespace

BOOST_AUTO_TEST_SUITE(read_only_host,
                      *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                        return boost::test_tools::assertion_result(can_make_host_read_only());
                      }))

OCIRUN_CHILD_TEST(only_the_exception_can_be_written_to, CLONE_NEWNS) {
  Host scene;
  must(scene.host.except(HostPath("/mnt/bundle/rootfs"), Recursion::kTree));
  must(scene.close());
  BOOST_TEST(can_write("/mnt/bundle/rootfs"));
  BOOST_TEST(can_write("/mnt/bundle/rootfs/tmp"));
  BOOST_TEST(Scene::read("/mnt/bundle/rootfs/file") == "kept");
  BOOST_TEST(!can_write("/mnt/bundle"));
  BOOST_TEST(!can_write("/mnt/other"));
  BOOST_TEST(!can_write("/mnt/bundle/rootfs/../../other"));
  BOOST_TEST((errno == EROFS));
}

OCIRUN_CHILD_TEST(the_mounts_below_an_exception_are_part_of_it_on_request, CLONE_NEWNS) {
  Host scene;
  must(scene.host.except(HostPath("/mnt/bundle/rootfs"), Recursion::kTop));
  must(scene.close());
  BOOST_TEST(Scene::read("/mnt/bundle/rootfs/file") == "kept");
  BOOST_TEST(!fs::exists("/mnt/bundle/rootfs/tmp/below"));
}

OCIRUN_CHILD_TEST(an_exception_may_be_named_by_a_symlink_or_lie_in_another_one, CLONE_NEWNS) {
  Host scene;
  fs::create_directory_symlink("bundle", "/mnt/link");
  must(scene.host.except(HostPath("/mnt/link/rootfs"), Recursion::kTree));
  must(scene.host.except(HostPath("/mnt/bundle"), Recursion::kTop));
  must(scene.close());
  BOOST_TEST(can_write("/mnt/bundle"));
  BOOST_TEST(can_write("/mnt/bundle/rootfs/tmp"));
  BOOST_TEST(fs::exists("/mnt/bundle/rootfs/tmp/below"));
  BOOST_TEST(!can_write("/mnt"));
}

OCIRUN_CHILD_TEST(an_outer_exception_may_come_first, CLONE_NEWNS) {
  Host scene;
  must(scene.host.except(HostPath("/mnt/bundle"), Recursion::kTop));
  must(scene.host.except(HostPath("/mnt/bundle/rootfs"), Recursion::kTree));
  must(scene.close());
  BOOST_TEST(can_write("/mnt/bundle"));
  BOOST_TEST(can_write("/mnt/bundle/rootfs/tmp"));
  BOOST_TEST(fs::exists("/mnt/bundle/rootfs/tmp/below"));
  BOOST_TEST(!can_write("/mnt"));
}

OCIRUN_CHILD_TEST(the_files_of_an_exception_are_those_of_the_host, CLONE_NEWNS) {
  Host scene;
  must(scene.host.except(HostPath("/mnt/other"), Recursion::kTop));
  const UniqueFd before = must(linux::sys::open("/mnt/other", O_PATH));
  must(scene.close());
  BOOST_TEST_REQUIRE(can_write("/mnt/other"));
  BOOST_TEST(must(linux::sys::fstatat(before, "made")).st_size == 0);
}

OCIRUN_CHILD_TEST(an_exception_may_be_a_file, CLONE_NEWNS) {
  Host scene;
  must(scene.host.except(HostPath("/mnt/bundle/rootfs/file"), Recursion::kTop));
  must(scene.close());
  const UniqueFd file(::open("/mnt/bundle/rootfs/file", O_WRONLY | O_CLOEXEC));
  BOOST_TEST(static_cast<bool>(file));
  BOOST_TEST(!can_write("/mnt/bundle/rootfs"));
}

OCIRUN_CHILD_TEST(an_exception_that_is_read_only_stays_so, CLONE_NEWNS) {
  Host scene;
  must(linux::sys::mount("none", "/mnt", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr));
  must(scene.host.except(HostPath("/mnt/other"), Recursion::kTop));
  must(scene.close());
  BOOST_TEST(!can_write("/mnt/other"));
}

OCIRUN_CHILD_TEST(without_exceptions_every_mount_is_read_only, CLONE_NEWNS) {
  Host scene;
  must(scene.close());
  BOOST_TEST(mount_at("/").has("ro"));
  for (const char* path : {"/mnt", "/mnt/bundle/rootfs/tmp"}) {
    BOOST_TEST(mount_at(path).has("ro"), path);
    BOOST_TEST(!can_write(path), path);
  }
}

OCIRUN_CHILD_TEST(an_exception_that_was_replaced_is_an_error, CLONE_NEWNS) {
  Host scene;
  must(scene.host.except(HostPath("/mnt/other"), Recursion::kTop));
  fs::rename("/mnt/other", "/mnt/moved");
  fs::create_directory("/mnt/other");
  check_text(must_fail(scene.close()), "/mnt/other: was replaced");
}

OCIRUN_CHILD_TEST(a_missing_exception_is_an_error, CLONE_NEWNS) {
  Host scene;
  BOOST_TEST(!scene.host.except(HostPath("/mnt/none"), Recursion::kTop));
}

OCIRUN_CHILD_TEST(procfs_stays_writable, CLONE_NEWNS) {
  Host scene;
  must(scene.close());
  const UniqueFd file(::open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC));
  BOOST_TEST(static_cast<bool>(file));
}

OCIRUN_CHILD_TEST(mounts_of_procfs_and_sysfs_keep_their_access, CLONE_NEWNS) {
  Host scene;
  for (const char* path : {"/mnt/writable", "/mnt/read_only", "/mnt/sys", "/mnt/covered"})
    fs::create_directory(path);
  for (const char* path : {"/mnt/writable", "/mnt/read_only", "/mnt/covered"})
    must(linux::sys::mount("proc", path, "proc", 0, nullptr));
  must(linux::sys::mount("sysfs", "/mnt/sys", "sysfs", 0, nullptr));
  must(linux::sys::mount("none", "/mnt/read_only", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY,
                         nullptr));
  must(linux::sys::mount("tmpfs", "/mnt/covered", "tmpfs", 0, nullptr));
  must(scene.close());
  BOOST_TEST(mount_at("/mnt/writable").has("rw"));
  BOOST_TEST(mount_at("/mnt/sys").has("rw"));
  BOOST_TEST(mount_at("/mnt/read_only").has("ro"));
  BOOST_TEST(mount_at("/mnt/covered").has("ro"));
  BOOST_TEST(!can_write("/mnt/covered"));
}

OCIRUN_CHILD_TEST(tmp_is_empty_and_writable, CLONE_NEWNS) {
  must(linux::sys::mount("tmpfs", "/tmp", "tmpfs", 0, nullptr));
  Scene::write("/tmp/hosts", "x");
  Host scene;
  must(scene.close({"/mnt/needed", "/tmpfile"}));
  BOOST_TEST(!fs::exists("/tmp/hosts"));
  BOOST_TEST(can_write("/tmp"));
  BOOST_TEST((fs::status("/tmp").permissions() == (fs::perms::all | fs::perms::sticky_bit)));
  for (const char* option : {"rw", "nosuid", "nodev"})
    BOOST_TEST(mount_at("/tmp").has(option), option);
}

// A tmpfs on /tmp, with other things than those that a restore needs.
struct Temporary {
  Temporary() {
    must(linux::sys::mount("tmpfs", "/tmp", "tmpfs", 0, nullptr));
    fs::create_directories("/tmp/bundle/rootfs/etc");
    fs::create_directories("/tmp/images");
    fs::create_directories("/tmp/others");
    Scene::write("/tmp/images/core", "x");
    Scene::write("/tmp/criu", "a program");
    Scene::write("/tmp/others/file", "x");
  }
};

OCIRUN_CHILD_TEST(tmp_holds_what_is_needed_there_and_nothing_else, CLONE_NEWNS) {
  Temporary temporary;
  must(linux::sys::mount("tmpfs", "/tmp/images", "tmpfs", 0, nullptr));
  Scene::write("/tmp/images/core", "mounted");
  Host scene;
  must(scene.close({"/mnt/needed", "/tmp/criu", "/tmp//images/", "/tmp/missing"}));
  BOOST_TEST(Scene::read("/tmp/images/core") == "mounted");
  BOOST_TEST(Scene::read("/tmp/criu") == "a program");
  BOOST_TEST(!can_write("/tmp/images"));
  const UniqueFd program(::open("/tmp/criu", O_WRONLY | O_CLOEXEC));
  BOOST_TEST(!program);
  BOOST_TEST(!fs::exists("/tmp/others"));
  BOOST_TEST(!fs::exists("/tmp/bundle"));
  BOOST_TEST(can_write("/tmp"));
}

OCIRUN_CHILD_TEST(exceptions_may_lie_in_tmp, CLONE_NEWNS) {
  Temporary temporary;
  Host scene;
  must(scene.host.except(HostPath("/tmp/bundle/rootfs"), Recursion::kTree));
  const UniqueFd before = must(linux::sys::open("/tmp/bundle/rootfs", O_PATH));
  must(scene.close({"/tmp/bundle/rootfs", "/tmp/bundle/rootfs/etc", "/tmp/images"}));
  BOOST_TEST_REQUIRE(can_write("/tmp/bundle/rootfs"));
  BOOST_TEST(must(linux::sys::fstatat(before, "made")).st_size == 0);
  BOOST_TEST(can_write("/tmp/bundle/rootfs/etc"));
  BOOST_TEST(!can_write("/tmp/images"));
  BOOST_TEST(!fs::exists("/tmp/others"));
  BOOST_TEST(!can_write("/mnt"));
}

OCIRUN_CHILD_TEST(an_exception_in_tmp_may_lie_in_what_is_needed, CLONE_NEWNS) {
  Temporary temporary;
  Host scene;
  must(scene.host.except(HostPath("/tmp/bundle/rootfs"), Recursion::kTop));
  must(scene.close({"/tmp/bundle"}));
  BOOST_TEST(can_write("/tmp/bundle/rootfs"));
  BOOST_TEST(!can_write("/tmp/bundle"));
  BOOST_TEST(!fs::exists("/tmp/others"));
}

OCIRUN_CHILD_TEST(a_place_in_tmp_that_was_replaced_is_an_error, CLONE_NEWNS) {
  Temporary temporary;
  Host scene;
  must(scene.host.except(HostPath("/tmp/bundle"), Recursion::kTop));
  must(scene.host.except(HostPath("/tmp/bundle/rootfs"), Recursion::kTop));
  fs::rename("/tmp/bundle/rootfs", "/tmp/bundle/moved");
  fs::create_directory("/tmp/bundle/rootfs");
  check_text(must_fail(scene.close()), "/tmp/bundle/rootfs: was replaced");
}

// A tmpfs that holds nothing but what `path` leads to would not do: all of /tmp stays.
void check_that_tmp_stays(const std::string& path) {
  Temporary temporary;
  Host scene;
  fs::create_directory_symlink("/tmp/images", "/mnt/link");
  fs::create_directory_symlink("/tmp/images", "/tmp/link");
  must(scene.close({path}));
  BOOST_TEST(fs::exists(path));
  BOOST_TEST(fs::exists("/tmp/others/file"));
  BOOST_TEST(can_write("/tmp/images"));
  BOOST_TEST(!can_write("/mnt"));
}
OCIRUN_CHILD_TEST(tmp_stays_for_a_symlink_that_leads_there, CLONE_NEWNS) {
  check_that_tmp_stays("/mnt/link/core");
}
OCIRUN_CHILD_TEST(tmp_stays_for_a_symlink_in_it, CLONE_NEWNS) {
  check_that_tmp_stays("/tmp/link/core");
}
OCIRUN_CHILD_TEST(tmp_stays_for_a_path_that_leaves_a_directory_again, CLONE_NEWNS) {
  check_that_tmp_stays("/tmp/others/../images/core");
}
OCIRUN_CHILD_TEST(tmp_stays_if_all_of_it_is_needed, CLONE_NEWNS) { check_that_tmp_stays("/tmp"); }

// Enters and closes a host of which /tmp is a symlink to /var/tmp.
void close_host_with_linked_tmp(const std::string& needed) {
  must(linux::sys::mount("tmpfs", "/mnt", "tmpfs", 0, nullptr));
  for (const char* directory : {"/mnt/proc", "/mnt/var/tmp/images", "/mnt/var/tmp/others"})
    fs::create_directories(directory);
  fs::create_directory_symlink("var/tmp", "/mnt/tmp");
  Scene::write("/mnt/var/tmp/images/core", "x");
  must(linux::sys::mount("proc", "/mnt/proc", "proc", 0, nullptr));
  BOOST_TEST_REQUIRE(::chroot("/mnt") == 0);
  ReadOnlyHost host;
  const auto procfs = must(linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  must(host.close(procfs, std::span(&needed, 1)));
}
OCIRUN_CHILD_TEST(tmp_may_be_a_symlink, CLONE_NEWNS) {
  close_host_with_linked_tmp("/var/tmp/images");
  BOOST_TEST(fs::exists("/var/tmp/images/core"));
  BOOST_TEST(!can_write("/var/tmp/images"));
  BOOST_TEST(!fs::exists("/var/tmp/others"));
  BOOST_TEST(can_write("/tmp"));
  BOOST_TEST(!can_write("/var"));
}
OCIRUN_CHILD_TEST(a_symlink_as_tmp_may_be_named, CLONE_NEWNS) {
  close_host_with_linked_tmp("/tmp/images");
  BOOST_TEST(fs::exists("/tmp/images/core"));
  BOOST_TEST(fs::exists("/tmp/others"));
  BOOST_TEST(!can_write("/var"));
}

BOOST_AUTO_TEST_SUITE_END()
