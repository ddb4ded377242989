#include "linux/mounts/device_nodes.hpp"

#include <sys/sysmacros.h>

#include <sstream>

#include "tests/linux/mounts/scene.hpp"
#include "tests/scratch.hpp"

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

OCIRUN_CHILD_TEST(a_node_is_made_and_removed_and_both_are_undone_unless_kept, CLONE_NEWNS) {
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
      BOOST_TEST(must(changes.remove(kmsg("/dev/kmsg").device)));
      BOOST_TEST(!exists("/dev/kmsg"));
    }
    BOOST_TEST(is_kmsg("/dev/kmsg"));
    NodeChanges changes(*scene.root, *scene.procfs, source);
    BOOST_TEST(must(changes.remove(kmsg("/dev/kmsg").device)));
    changes.keep();
    BOOST_TEST(!exists("/dev/kmsg"));
  }
}

OCIRUN_CHILD_TEST(no_symlink_is_followed_and_nothing_but_devices_is_touched, CLONE_NEWNS) {
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
  for (const char* path : {"/dev/link", "/dev/file", "/dev"})
    BOOST_TEST(!must(changes.remove(kmsg(path).device)));
  must_fail(changes.remove(kmsg("/dev/nothing").device));
  BOOST_TEST(exists("/dev/link"));
  BOOST_TEST(fs::is_empty(kRoot + "/decoy"));
  BOOST_TEST(fs::file_size(kRoot + "/dev/file") == 4U);
  must_fail(open_host_device(HostPath("/etc/passwd"), RootfsPath("/dev/x")));
}

// The container has renamed the node and put another in its place.
OCIRUN_CHILD_TEST(a_node_of_another_device_is_left_alone, CLONE_NEWNS) {
  Scene scene;
  scene.attach();
  fs::create_directories(kRoot + "/dev");
  NodeChanges changes(*scene.root, *scene.procfs, NodeSource::kMakeNode);
  must(changes.add(must(open_host_device(HostPath("/dev/zero"), RootfsPath("/dev/kmsg")))));
  BOOST_TEST(!must(changes.remove(kmsg("/dev/kmsg").device)));
  BOOST_TEST(exists("/dev/kmsg"));
}

// Otherwise a mount that the container puts over the node would also cover the host's node.
OCIRUN_CHILD_TEST(the_bound_node_is_no_peer_of_the_hosts_dev, CLONE_NEWNS) {
  Scene scene;
  scene.attach();
  constexpr unsigned long kBind = 1UL << 12, kShared = 1UL << 20;  // MS_BIND, MS_SHARED
  must(sys::mount("/dev", "/dev", nullptr, kBind, nullptr));
  must(sys::mount("none", "/dev", nullptr, kShared, nullptr));
  NodeChanges changes(*scene.root, *scene.procfs, NodeSource::kBindHostNode);
  must(changes.add(kmsg("/dev/kmsg")));
  std::istringstream mounts(slurp("/proc/self/mountinfo"));
  bool seen = false;
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(kRoot + "/dev/kmsg ") == std::string::npos) continue;
    seen = true;
    BOOST_TEST(line.find("shared:") == std::string::npos);
    BOOST_TEST(line.find("master:") == std::string::npos);
  }
  BOOST_TEST(seen);
  BOOST_TEST(is_kmsg("/dev/kmsg"));
}

BOOST_AUTO_TEST_SUITE_END()
