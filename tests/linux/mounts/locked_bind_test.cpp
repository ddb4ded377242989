#include "linux/mounts/binds.hpp"

#include <cerrno>

#include "linux/mounts/place.hpp"
#include "tests/linux/mounts/scene.hpp"

// A tree that a privileged process opens for a container with a user namespace. The bodies run in a
// child that ends up in that user namespace with all capabilities, as a hostile container would.

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;
namespace fs = std::filesystem;

namespace {

/// What the container may not reach: a directory of root's with a read-only mount in it, which
/// covers a secret.
void make_source() {
  Scene::write("/tmp/host/below/secret", "secret");
  must(sys::mount("tmpfs", "/tmp/host/below", "tmpfs", MS_RDONLY | MS_NOSUID, nullptr));
  must(sys::mount("none", "/tmp/host/below", nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID,
                  nullptr));
  fs::permissions("/tmp/host", fs::perms::owner_all);
}

UniqueFd open_path(const char* path) { return must(sys::open(path, O_PATH)); }

bool cleared(Fd mount, std::uint64_t attributes, unsigned flags = 0) {
  mount_attr wanted{};
  wanted.attr_clr = attributes;
  return sys::mount_setattr(mount, flags, wanted).has_value();
}

/// The tree that `wanted` gives, at /tmp/rootfs/data, seen by a process of `user_namespace`.
UniqueFd attach_locked(Scene& scene, const Mount& mount, Fd user_namespace, Fd id_map = Fd{}) {
  UniqueFd tree = must(clone_locked_bind(
      *scene.procfs, {.mount = mount, .id_map = id_map, .user_namespace = user_namespace}));
  must(sys::move_mount(tree, open_path("/tmp/rootfs/data")));
  return tree;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(locked_bind)

OCIRUN_CHILD_TEST(nothing_of_a_locked_tree_is_made_writable_or_uncovered, CLONE_NEWNS) {
  Scene scene;
  make_source();
  const UniqueFd user_namespace = shifted_user_namespace();
  const UniqueFd top =
      attach_locked(scene, bind_of("/data", "/tmp/host", "rbind,ro,nodev"), user_namespace);
  const UniqueFd below = open_path("/tmp/rootfs/data/below");
  BOOST_TEST(mount_at("/tmp/rootfs/data").has("ro"));
  for (const unsigned attribute : {unsigned{MOUNT_ATTR_RDONLY}, unsigned{MOUNT_ATTR_NODEV}})
    BOOST_TEST(!cleared(top, attribute));
  for (const unsigned attribute : {unsigned{MOUNT_ATTR_RDONLY}, unsigned{MOUNT_ATTR_NOSUID}})
    BOOST_TEST(!cleared(below, attribute));
  for (const char* path : {"/tmp/rootfs/data", "/tmp/rootfs/data/below"})
    BOOST_TEST(!sys::mount("none", path, nullptr, MS_REMOUNT | MS_BIND, nullptr));
  for (const int flags : {0, 2 /* MNT_DETACH */})
    BOOST_TEST(!sys::unmount("/tmp/rootfs/data/below", flags));
  BOOST_TEST(!sys::open_tree(top, "", OPEN_TREE_CLONE | unsigned{AT_EMPTY_PATH}));
  BOOST_TEST(!sys::move_mount(below, open_path("/tmp/rootfs/etc")));
  BOOST_TEST(!fs::exists("/tmp/rootfs/data/below/secret"));
}

OCIRUN_CHILD_TEST(a_tree_that_was_only_handed_over_can_be_changed, CLONE_NEWNS) {  // the control
  Scene scene;
  make_source();
  const UniqueFd user_namespace = shifted_user_namespace();
  const Mount mount = bind_of("/data", "/tmp/host", "rbind,ro");
  const UniqueFd loose = must(open_bind(*scene.procfs, mount));
  must(set_attributes_of(*scene.procfs, loose, mount));
  must(clone_locked_bind(*scene.procfs,
                         {.mount = mount, .id_map = {}, .user_namespace = user_namespace}));
  must(sys::move_mount(loose, open_path("/tmp/rootfs/data")));
  BOOST_TEST(cleared(loose, MOUNT_ATTR_RDONLY, AT_RECURSIVE));
  BOOST_TEST(sys::unmount("/tmp/rootfs/data/below", 0).has_value());
}

OCIRUN_CHILD_TEST(an_id_mapped_tree_is_locked_too, CLONE_NEWNS) {  // M-8
  Scene scene;
  make_source();
  const UniqueFd user_namespace = shifted_user_namespace();
  const Mount mount = bind_of("/data", "/tmp/host", "rbind,ro,idmap");
  if (const auto tree = open_id_mapped_bind(*scene.procfs, mount, user_namespace);
      !tree && tree.error().number() == EINVAL) {
    BOOST_TEST_MESSAGE("skipped: tmpfs has id-mapped mounts since Linux 6.3");
    return;
  }
  const UniqueFd top = attach_locked(scene, mount, user_namespace, user_namespace);
  struct stat info{};
  BOOST_TEST(::stat("/tmp/rootfs/data/file", &info) == 0);
  BOOST_TEST(info.st_uid == 0u);  // the container's root, not nobody
  BOOST_TEST(!cleared(top, MOUNT_ATTR_RDONLY));
  BOOST_TEST(!sys::unmount("/tmp/rootfs/data/below", 0));
}

OCIRUN_CHILD_TEST(a_file_is_a_source_too, CLONE_NEWNS) {
  Scene scene;
  make_source();
  Scene::write("/tmp/rootfs/data/target", "image");
  const UniqueFd user_namespace = shifted_user_namespace();
  const Mount mount = bind_of("/data/target", "/tmp/host/file", "bind,ro");
  const UniqueFd tree = must(clone_locked_bind(
      *scene.procfs, {.mount = mount, .id_map = {}, .user_namespace = user_namespace}));
  must(sys::move_mount(tree, open_path("/tmp/rootfs/data/target")));
  BOOST_TEST(Scene::read("/tmp/rootfs/data/target") == "host");
  BOOST_TEST(!cleared(tree, MOUNT_ATTR_RDONLY));
}

OCIRUN_CHILD_TEST(what_the_mount_asks_for_wins_over_what_the_host_has, CLONE_NEWNS) {
  Scene scene;
  make_source();
  const UniqueFd user_namespace = shifted_user_namespace();
  const UniqueFd top =
      attach_locked(scene, bind_of("/data", "/tmp/host", "rbind,rro,rw,noatime"), user_namespace);
  const MountLine line = mount_at("/tmp/rootfs/data");
  BOOST_TEST(line.has("rw"));
  BOOST_TEST(line.has("noatime"));
  BOOST_TEST(mount_at("/tmp/rootfs/data/below").has("ro"));
}

// A shared tree would propagate the container's mounts to the host.
OCIRUN_CHILD_TEST(a_locked_tree_is_no_peer_of_the_hosts, CLONE_NEWNS) {
  for (const char* option : {"rbind", "rbind,rslave", "rbind,rshared"})
    BOOST_TEST(run_in_child(CLONE_NEWNS, [option] {
                 Scene scene;
                 make_source();
                 must(sys::mount("none", "/tmp", nullptr, MS_SHARED | MS_REC, nullptr));
                 // Keeps this mount namespace alive: with its last process its mounts would go too.
                 const UniqueFd host = must(sys::open("/proc/self/ns/mnt", O_RDONLY));
                 const UniqueFd user_namespace = shifted_user_namespace();
                 attach_locked(scene, bind_of("/data", "/tmp/host", option), user_namespace);
                 const std::string propagation = mount_at("/tmp/rootfs/data").propagation;
                 const bool follows = option != std::string("rbind");
                 BOOST_TEST(propagation.starts_with(follows ? "master:" : ""), propagation);
                 BOOST_TEST(propagation.find("shared:") == std::string::npos, propagation);
               }) == 0);
}

OCIRUN_CHILD_TEST(locking_wants_privileges_and_says_so, CLONE_NEWNS) {
  Scene scene;
  make_source();
  const UniqueFd user_namespace = shifted_user_namespace();
  BOOST_TEST(::setresuid(1000, 1000, 1000) == 0);
  const Mount mount = bind_of("/data", "/tmp/host", "rbind");
  const auto tree = clone_locked_bind(
      *scene.procfs, {.mount = mount, .id_map = {}, .user_namespace = user_namespace});
  check_text(must_fail(tree),
             "make a mount namespace to lock /tmp/host in: operation not permitted");
}

BOOST_AUTO_TEST_SUITE_END()
