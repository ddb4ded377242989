#include "linux/device_nodes.hpp"

#include <sys/sysmacros.h>

#include "tests/linux/mount_scene.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;
namespace fs = std::filesystem;

namespace {

const std::string kRoot = "/tmp/rootfs";

bool is_kmsg(const std::string& path) {
  struct stat info{};
  return ::lstat((kRoot + path).c_str(), &info) == 0 && S_ISCHR(info.st_mode) &&
         info.st_rdev == makedev(1, 11);
}
bool exists(const std::string& path) {
  struct stat info{};
  return ::lstat((kRoot + path).c_str(), &info) == 0;
}
HostDevice kmsg(const std::string& path) {
  return must(open_host_device(HostPath("/dev/kmsg"), RootfsPath(path)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(device_nodes)

CHILD_TEST(a_node_is_made_and_removed_and_both_are_undone_unless_kept, CLONE_NEWNS) {
  Scene scene;
  scene.attach();
  for (const NodeSource source : {NodeSource::kMakeNode, NodeSource::kBindHostNode}) {
    {
      NodeChanges changes(*scene.root, *scene.procfs, source);
      must(changes.add(kmsg("/dev/sub/kmsg")));
      BOOST_TEST(is_kmsg("/dev/sub/kmsg"));
    }
    BOOST_TEST(!exists("/dev/sub/kmsg"));
    {
      NodeChanges changes(*scene.root, *scene.procfs, source);
      must(changes.add(kmsg("/dev/kmsg")));
      must(changes.add(kmsg("/dev/kmsg")));  // it is there: nothing to do
      changes.keep();
    }
    BOOST_TEST(is_kmsg("/dev/kmsg"));
    {
      NodeChanges changes(*scene.root, *scene.procfs, source);
      const Device removed = must(changes.remove(RootfsPath("/dev/kmsg")));
      BOOST_TEST(removed.minor == 11);
      BOOST_TEST(!exists("/dev/kmsg"));
    }
    BOOST_TEST(is_kmsg("/dev/kmsg"));
    NodeChanges changes(*scene.root, *scene.procfs, source);
    must(changes.remove(RootfsPath("/dev/kmsg")));
    changes.keep();
    BOOST_TEST(!exists("/dev/kmsg"));
  }
}

CHILD_TEST(no_symlink_is_followed_and_nothing_but_devices_is_touched, CLONE_NEWNS) {
  Scene scene;
  scene.attach();
  fs::create_directories(kRoot + "/dev");
  fs::create_directories(kRoot + "/decoy");
  fs::create_directory_symlink("../decoy", kRoot + "/dev/away");
  fs::create_symlink("/dev/kmsg", kRoot + "/dev/link");
  Scene::write(kRoot + "/dev/file", "keep");
  NodeChanges changes(*scene.root, *scene.procfs, NodeSource::kMakeNode);
  must_fail(changes.add(kmsg("/dev/away/kmsg")));
  must_fail(changes.add(kmsg("/dev/link")));
  must_fail(changes.add(kmsg("/dev/file")));
  must_fail(changes.add(kmsg("/dev/../kmsg")));
  must_fail(changes.add(kmsg("/")));
  must_fail(changes.remove(RootfsPath("/dev/link")));
  must_fail(changes.remove(RootfsPath("/dev/file")));
  must_fail(changes.remove(RootfsPath("/dev/nothing")));
  must_fail(changes.remove(RootfsPath("/dev")));
  BOOST_TEST(fs::is_empty(kRoot + "/decoy"));
  BOOST_TEST(fs::file_size(kRoot + "/dev/file") == 4U);
  must_fail(open_host_device(HostPath("/etc/passwd"), RootfsPath("/dev/x")));
}

BOOST_AUTO_TEST_SUITE_END()
