#include "linux/mounts/devices.hpp"

#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "tests/linux/mounts/scene.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;
namespace fs = std::filesystem;

namespace {

struct stat info_of(const std::string& path) {
  struct stat info{};
  test::detail::check(::lstat(path.c_str(), &info) == 0, path.c_str());
  return info;
}

Device device_of(Device::Kind kind, std::string path, std::int64_t major, std::int64_t minor) {
  Device device;
  device.kind = kind;
  device.path = RootfsPath(std::move(path));
  device.major = major;
  device.minor = minor;
  return device;
}

void check_default_devices() {
  const std::vector<std::pair<const char*, dev_t>> expected = {
      {"null", makedev(1, 3)},   {"zero", makedev(1, 5)},    {"full", makedev(1, 7)},
      {"random", makedev(1, 8)}, {"urandom", makedev(1, 9)}, {"tty", makedev(5, 0)}};
  for (const auto& [name, number] : expected) {
    const struct stat info = info_of(std::string("/tmp/rootfs/dev/") + name);
    BOOST_TEST((S_ISCHR(info.st_mode) && info.st_rdev == number), name);
    BOOST_TEST((info.st_mode & 0777) == 0666u, name);
  }
}

Result<void> make_device(const SafeDir& root, const Procfs& procfs, const Device& device,
                         NodeSource source) {
  return DeviceMaker(root, procfs, source).make(device);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(devices)

OCIRUN_CHILD_TEST(the_default_devices_are_made, CLONE_NEWNS) {  // L-27
  Scene scene;
  scene.attach();
  for (const Device& device : default_devices())
    must(make_device(*scene.root, *scene.procfs, device, NodeSource::kMakeNode));
  check_default_devices();
}

OCIRUN_CHILD_TEST(devices_of_one_maker_are_made_in_the_directories_of_their_paths, CLONE_NEWNS) {
  Scene scene;
  scene.attach();
  DeviceMaker maker(*scene.root, *scene.procfs, NodeSource::kMakeNode);
  Device device = default_devices()[0];
  for (const char* path : {"/dev/a", "/dev/b", "/dev/sub/c", "/dev/d", "/e", "sub", "sub2/x"}) {
    device.path = RootfsPath(path);
    must(maker.make(device));
    BOOST_TEST(S_ISCHR(info_of("/tmp/rootfs/" + std::string(path)).st_mode));
  }
  for (const char* path : {"/", "/dev/.", "/dev/..", "/dev/slash/", "/dev/slash/below"}) {
    device.path = RootfsPath("/dev/a");
    must(maker.make(device));  // keeps /dev open
    device.path = RootfsPath(path);
    BOOST_TEST(maker.make(device).has_value() == (device.path.string() == "/dev/slash/"));
  }
}

OCIRUN_CHILD_TEST(the_default_devices_are_bound_in_a_user_namespace,
                  CLONE_NEWNS | CLONE_NEWUSER) {  // L-25
  for (const bool old_kernel : {false, true})
    BOOST_TEST(
        run_in_child(CLONE_NEWNS, [old_kernel] {
          if (old_kernel)
            refuse_system_calls({SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_mount_setattr});
          Scene scene;
          scene.attach();
          for (const Device& device : default_devices())
            must(make_device(*scene.root, *scene.procfs, device, NodeSource::kBindHostNode));
          check_default_devices();
          Device device = device_of(Device::Kind::kCharacter, "/dev/zero", 240, 77);
          check_text(
              must_fail(make_device(*scene.root, *scene.procfs, device, NodeSource::kBindHostNode)),
              "the host has no node that is the character device 240:77, neither /dev/zero nor "
              "/dev/char/240:77");
          // By another name: the host's null.
          must(make_device(*scene.root, *scene.procfs,
                           device_of(Device::Kind::kCharacter, "/dev/nowhere", 1, 3),
                           NodeSource::kBindHostNode));
          BOOST_TEST(info_of("/tmp/rootfs/dev/nowhere").st_rdev == makedev(1, 3));
        }) == 0);
}

OCIRUN_CHILD_TEST(a_refused_mknod_becomes_a_bind, CLONE_NEWNS | CLONE_NEWUSER) {  // L-25
  Scene scene;
  scene.attach();
  for (const Device& device : default_devices())
    must(make_device(*scene.root, *scene.procfs, device, NodeSource::kMakeNode));
  check_default_devices();
}

OCIRUN_CHILD_TEST(mode_and_owner_are_exact_anywhere_in_the_root, CLONE_NEWNS) {  // L-21, L-23, L-24
  Scene scene;
  scene.attach();
  ::umask(022);  // even so
  Device device = device_of(Device::Kind::kBlock, "/new/place/disk", 7, 99);
  device.mode = 0640;
  device.uid = must(Uid::make(5));
  device.gid = must(Gid::make(6));
  must(make_device(*scene.root, *scene.procfs, device, NodeSource::kMakeNode));
  const struct stat info = info_of("/tmp/rootfs/new/place/disk");
  BOOST_TEST((S_ISBLK(info.st_mode) && info.st_rdev == makedev(7, 99)));
  BOOST_TEST((info.st_mode & 07777) == 0640u);
  BOOST_TEST((info.st_uid == 5u && info.st_gid == 6u));
  device = device_of(Device::Kind::kFifo, "/dev/pipe", 0, 0);
  must(make_device(*scene.root, *scene.procfs, device, NodeSource::kBindHostNode));
  BOOST_TEST((info_of("/tmp/rootfs/dev/pipe").st_mode == (S_IFIFO | 0666u)));
}

OCIRUN_CHILD_TEST(something_else_of_that_name_is_an_error, CLONE_NEWNS) {  // L-21
  Scene scene;
  Scene::write("/tmp/rootfs/dev/zero", "a file");
  fs::create_symlink("/etc/hosts", "/tmp/rootfs/dev/null");
  scene.attach();
  const auto make = [&](std::size_t index, NodeSource source) {
    return make_device(*scene.root, *scene.procfs, default_devices()[index], source);
  };
  check_text(
      must_fail(make(0, NodeSource::kMakeNode)),
      "device /dev/null: the root filesystem has another file at this path, which is not the "
      "character device 1:3");
  check_text(must_fail(make(1, NodeSource::kMakeNode)),
             "the root filesystem has another file at this path");
  check_text(must_fail(make(0, NodeSource::kBindHostNode)),
             "the root filesystem has another file at this path");
  must(make(2, NodeSource::kMakeNode));
  must(make(2, NodeSource::kMakeNode));  // that very device is accepted
  Device device = default_devices()[2];
  device.minor = 3;
  check_text(must_fail(make_device(*scene.root, *scene.procfs, device, NodeSource::kMakeNode)),
             "which is not the character device 1:3");
  BOOST_TEST(Scene::read("/tmp/rootfs/etc/hosts") == "image");
}

OCIRUN_CHILD_TEST(an_unmapped_owner_is_an_error, CLONE_NEWNS | CLONE_NEWUSER) {  // L-24
  Scene scene;
  scene.attach();
  Device fifo = device_of(Device::Kind::kFifo, "/dev/pipe", 0, 0);
  fifo.uid = must(Uid::make(70000));
  check_text(must_fail(make_device(*scene.root, *scene.procfs, fifo, NodeSource::kMakeNode)),
             "user 70000 or group 0 is not mapped in the user namespace");
}

OCIRUN_CHILD_TEST(a_symlinked_dev_leads_nowhere_outside,
                  CLONE_NEWNS) {  // CVE-2026-41579, CVE-2026-47766
  Scene scene;
  fs::create_directories("/tmp/decoy");
  Scene::write("/tmp/decoy/ptmx", "marker");
  fs::remove("/tmp/rootfs/dev");
  fs::create_symlink("../../../../../../tmp/decoy", "/tmp/rootfs/dev");
  scene.attach();
  scene.mount(mount_of("/proc", "proc", "proc", ""));
  for (const Device& device : default_devices())
    must(make_device(*scene.root, *scene.procfs, device, NodeSource::kMakeNode));
  must(make_device_links(*scene.root));
  BOOST_TEST(std::distance(fs::directory_iterator("/tmp/decoy"), fs::directory_iterator()) == 1);
  BOOST_TEST(Scene::read("/tmp/decoy/ptmx") == "marker");
  BOOST_TEST(S_ISCHR(info_of("/tmp/rootfs/tmp/decoy/null").st_mode));
}

OCIRUN_CHILD_TEST(links_are_made_for_what_exists, CLONE_NEWNS | CLONE_NEWPID) {  // LG-4
  Scene scene;
  scene.attach();
  must(make_device_links(*scene.root));
  BOOST_TEST(!fs::is_symlink("/tmp/rootfs/dev/fd"));  // no proc yet
  BOOST_TEST(fs::read_symlink("/tmp/rootfs/dev/ptmx") == "pts/ptmx");
  scene.mount(mount_of("/proc", "proc", "proc", ""));
  must(make_device_links(*scene.root));
  BOOST_TEST(fs::read_symlink("/tmp/rootfs/dev/fd") == "/proc/self/fd");
  BOOST_TEST(fs::read_symlink("/tmp/rootfs/dev/stdin") == "/proc/self/fd/0");
  BOOST_TEST(fs::read_symlink("/tmp/rootfs/dev/stdout") == "/proc/self/fd/1");
  BOOST_TEST(fs::read_symlink("/tmp/rootfs/dev/stderr") == "/proc/self/fd/2");
  if (fs::exists("/proc/kcore"))
    BOOST_TEST(fs::read_symlink("/tmp/rootfs/dev/core") == "/proc/kcore");
  must(make_device_links(*scene.root));  // again is no error
}

BOOST_AUTO_TEST_CASE(the_hosts_null_is_proven) {
  const UniqueFd null = must(open_verified_null());
  BOOST_TEST(::write(null.get(), "x", 1) == 1);
  const UniqueFd other = must(sys::open("/dev/zero", O_PATH));
  BOOST_TEST(!verify_null(other));
  const UniqueFd file = must(sys::open("/etc/passwd", O_RDONLY));
  BOOST_TEST(!verify_null(file));
}

BOOST_AUTO_TEST_SUITE_END()
