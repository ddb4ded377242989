#include <sys/syscall.h>

#include "linux/mounts/legacy.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/mounts/mount_point.hpp"
#include "tests/linux/mounts/mount_api.hpp"
#include "tests/linux/mounts/scene.hpp"

// What the mounts of a hostile image, or of a container in a user namespace, must not come to.

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;
namespace fs = std::filesystem;

namespace {

uid_t owner_of(const char* path) {
  struct stat info{};
  test::detail::check(::stat(path, &info) == 0, path);
  return info.st_uid;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mount_security)

OCIRUN_CHILD_TEST(proc_and_sysfs_want_a_real_directory,
                  CLONE_NEWNS | CLONE_NEWPID) {  // M-10, CVE-2019-19921
  Scene scene;
  fs::create_directories("/tmp/rootfs/fake/sub");
  fs::remove("/tmp/rootfs/proc");
  fs::remove("/tmp/rootfs/sys");
  fs::create_symlink("/fake", "/tmp/rootfs/proc");
  fs::create_symlink("../../../../fake/sub", "/tmp/rootfs/sys");
  for (const char* type : {"proc", "sysfs"}) {
    const std::string path = type == std::string("proc") ? "/proc" : "/sys";
    check_text(must_fail(scene.try_mount(mount_of(path, type, type, ""))),
               "must be mounted on ordinary directory");
  }
  fs::remove("/tmp/rootfs/proc");
  Scene::write("/tmp/rootfs/proc", "a file");
  check_text(must_fail(scene.try_mount(mount_of("/proc", "proc", "proc", ""))),
             "must be mounted on ordinary directory");
  BOOST_TEST(!is_mounted("/tmp/rootfs/fake"));
  BOOST_TEST(!is_mounted("/tmp/rootfs/fake/sub"));
  fs::remove("/tmp/rootfs/proc");
  scene.mount(mount_of("/proc", "proc", "proc", ""));  // a missing one is made
  BOOST_TEST(mount_at("/tmp/rootfs/proc").type == "proc");
}

OCIRUN_CHILD_TEST(nothing_may_cover_proc_but_what_the_list_allows,
                  CLONE_NEWNS | CLONE_NEWPID) {  // M-9
  Scene scene;
  fs::create_symlink("/proc", "/tmp/rootfs/data/way");
  fs::create_directories("/tmp/host/self/attr");
  const auto refused = [&](const Mount& mount) {
    const auto result = scene.try_mount(mount);
    return !result && result.error().message().find("proc") != std::string::npos;
  };
  BOOST_TEST(refused(bind_of("/proc", "/tmp/host", "rbind")));  // CVE-2019-16884
  BOOST_TEST(refused(mount_of("/proc", "tmpfs", "tmpfs", "")));
  scene.mount(mount_of("/proc", "proc", "proc", ""));
  for (const char* path : {"/proc/sys", "/proc/self/attr", "/proc/1", "/proc/./sys/", "//proc/sys",
                           "/data/../proc/sys", "/data/way/sys", "/data/way", "/proc/meminfo/x"})
    BOOST_TEST(refused(mount_of(path, "tmpfs", "tmpfs", "")), path);
  BOOST_TEST(refused(bind_of("/proc/self/attr", "/tmp/host", "bind")));
  BOOST_TEST(refused(mount_of("/proc/meminfo", "tmpfs", "tmpfs", "")));
  scene.mount(bind_of("/proc/meminfo", "/tmp/host/file", "bind,ro"));  // lxcfs
  BOOST_TEST(Scene::read("/tmp/rootfs/proc/meminfo") == "host");
  scene.mount(bind_of("/proc", "/proc", "rbind"));  // a real procfs, as with the host's pids
}

OCIRUN_CHILD_TEST(destinations_stay_inside_the_root,
                  CLONE_NEWNS) {  // CVE-2019-18837, CVE-2021-30465
  Scene scene;
  fs::create_directories("/tmp/decoy");
  fs::create_symlink("/tmp/decoy", "/tmp/rootfs/absolute");
  fs::create_symlink("../../../../../../../../../../../../tmp/decoy", "/tmp/rootfs/relative");
  fs::create_symlink("/tmp/decoy/planted", "/tmp/rootfs/file");
  for (const char* path : {"/absolute", "/relative", "/absolute/below", "/relative/../x"})
    scene.mount(mount_of(path, "tmpfs", "tmpfs", ""));
  scene.mount(bind_of("/file", "/tmp/host/file", "bind"));
  BOOST_TEST(fs::is_empty("/tmp/decoy"));
  for (const MountLine& line : mount_table()) BOOST_TEST(!line.path.starts_with("/tmp/decoy"));
  BOOST_TEST(is_mounted("/tmp/rootfs/tmp/decoy"));
}

// Runs `body` in a user namespace, where mounts from outside are locked.
void with_locked_source(void (*body)(Scene& scene)) {
  must(sys::mount("tmpfs", "/mnt", "tmpfs", 0, nullptr));
  fs::create_directories("/mnt/locked");
  must(sys::mount("tmpfs", "/mnt/locked", "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr));
  BOOST_TEST(run_in_child(CLONE_NEWNS | CLONE_NEWUSER, [body] {
               Scene scene;
               body(scene);
             }) == 0);
}

OCIRUN_CHILD_TEST(locked_flags_are_kept, CLONE_NEWNS) {
  with_locked_source([](Scene& scene) {
    scene.mount(bind_of("/data", "/mnt/locked", "bind,noexec"));
    for (const char* option : {"ro", "nosuid", "nodev", "noexec"})
      BOOST_TEST(mount_at("/tmp/rootfs/data").has(option), option);
    refuse_system_calls(kMountApi);
    scene.mount(bind_of("/old", "/mnt/locked", "bind,noexec"));
    for (const char* option : {"ro", "nosuid", "nodev", "noexec"})
      BOOST_TEST(mount_at("/tmp/rootfs/old").has(option), option);
  });
}

OCIRUN_CHILD_TEST(clearing_a_locked_flag_is_an_error_that_names_it, CLONE_NEWNS) {
  with_locked_source([](Scene& scene) {
    check_text(must_fail(scene.try_mount(bind_of("/data", "/mnt/locked", "bind,rw,suid,exec"))),
               "option \"rw\": the mount is ro and that is locked; option \"suid\": the mount is "
               "nosuid and that is locked");
    refuse_system_calls(kMountApi);
    check_text(must_fail(scene.try_mount(bind_of("/data", "/mnt/locked", "bind,rw"))),
               "option \"rw\": the mount is ro and that is locked");
  });
}

OCIRUN_CHILD_TEST(an_unmapped_gid_is_explained, CLONE_NEWNS) {  // M-15
  BOOST_TEST(run_in_child(
                 CLONE_NEWNS | CLONE_NEWUSER,
                 [] {
                   Scene scene;
                   MountContext context = scene.context();
                   context.in_user_namespace = true;
                   check_text(
                       must_fail(make_mount(
                           context, mount_of("/dev/pts", "devpts", "devpts", "newinstance,gid=5"),
                           UniqueFd())),
                       "map the id (gid=5 is usual for devpts)");
                 },
                 ChildMaps{"0 0 1", "0 0 1"}) == 0);
}

OCIRUN_CHILD_TEST(a_foreign_sysfs_is_shown_read_only,
                  CLONE_NEWNS | CLONE_NEWUSER) {  // M-13, CVE-2023-25809
  Scene scene;                                    // the network namespace is the host's
  MountContext context = scene.context();
  const Mount sysfs = mount_of("/sys", "sysfs", "sysfs", "nosuid,noexec,nodev");
  BOOST_TEST(!make_mount(context, sysfs, UniqueFd()).has_value());
  context.shares_network = true;
  must(make_mount(context, sysfs, UniqueFd()));
  unsigned seen = 0;
  for (const MountLine& line : mount_table())
    if (line.path.starts_with("/tmp/rootfs/sys")) {
      ++seen;
      BOOST_TEST(line.has("ro"), line.path);
    }
  BOOST_TEST(seen > 0u);
}

OCIRUN_CHILD_TEST(ids_of_a_bind_mount_are_mapped, CLONE_NEWNS) {  // M-8
  Scene scene;
  const UniqueFd user_namespace = shifted_user_namespace();
  must(sys::mount("tmpfs", "/tmp/host/below", "tmpfs", 0, nullptr));
  Scene::write("/tmp/host/below/file", "x");
  const Mount top = bind_of("/top", "/tmp/host", "rbind,idmap,ro");
  must(make_mount(scene.context(), top,
                  must(open_id_mapped_bind(*scene.procfs, top, user_namespace))));
  BOOST_TEST(owner_of("/tmp/rootfs/top/file") == 100000u);
  BOOST_TEST(owner_of("/tmp/rootfs/top/below/file") == 0u);
  BOOST_TEST(mount_at("/tmp/rootfs/top").has("ro"));
  const Mount all = bind_of("/all", "/tmp/host", "rbind,ridmap");
  must(make_mount(scene.context(), all,
                  must(open_id_mapped_bind(*scene.procfs, all, user_namespace))));
  BOOST_TEST(owner_of("/tmp/rootfs/all/below/file") == 100000u);
  const Mount proc = bind_of("/p", "/proc", "bind,idmap");
  check_text(must_fail(open_id_mapped_bind(*scene.procfs, proc, user_namespace)),
             "has no id-mapped mounts");
  check_text(must_fail(open_id_mapped_bind(*scene.procfs, mount_of("/t", "tmpfs", "tmpfs", "idmap"),
                                           user_namespace)),
             "only a bind mount");
}

OCIRUN_CHILD_TEST(an_id_mapped_tree_of_the_parent_is_attached_in_a_user_namespace,
                  CLONE_NEWNS) {  // M-8
  must(sys::mount("tmpfs", "/mnt", "tmpfs", 0, nullptr));
  Scene::write("/mnt/file", "x");
  const Mount mount = bind_of("/data", "/mnt", "rbind,idmap,ro,nosuid,rprivate");
  const UniqueFd user_namespace = shifted_user_namespace();
  const Procfs procfs = must(Procfs::open(Procfs::Subset::kProcesses));
  const UniqueFd tree = must(open_id_mapped_bind(procfs, mount, user_namespace));
  BOOST_TEST(run_in_child(
                 CLONE_NEWNS | CLONE_NEWUSER,
                 [&] {
                   Scene scene;
                   must(make_mount(scene.context(), mount, UniqueFd(::dup(tree.get()))));
                   BOOST_TEST(owner_of("/tmp/rootfs/data/file") == 0u);
                   BOOST_TEST(mount_at("/tmp/rootfs/data").has("ro"));
                   BOOST_TEST(mount_at("/tmp/rootfs/data").has("nosuid"));
                 },
                 ChildMaps{"0 100000 65536", "0 100000 65536"}) == 0);
}

OCIRUN_CHILD_TEST(a_bind_mount_cannot_be_uncovered_in_a_user_namespace, CLONE_NEWNS) {
  must(sys::mount("tmpfs", "/mnt", "tmpfs", 0, nullptr));
  fs::create_directories("/mnt/below");
  Scene::write("/mnt/below/secret", "secret");
  must(sys::mount("tmpfs", "/mnt/below", "tmpfs", MS_RDONLY, nullptr));
  BOOST_TEST(run_in_child(CLONE_NEWNS | CLONE_NEWUSER, [] {
               Scene scene;
               check_text(must_fail(scene.try_mount(bind_of("/data", "/mnt", "bind"))), "rbind");
               scene.mount(bind_of("/data", "/mnt", "rbind"));
               BOOST_TEST(!sys::unmount("/tmp/rootfs/data/below", 0));
               BOOST_TEST(!sys::mount("none", "/tmp/rootfs/data/below", nullptr,
                                      MS_REMOUNT | MS_BIND, nullptr));
               check_text(
                   must_fail(scene.try_mount(bind_of("/all", "/mnt", "rbind,rrw"))),
                   "a mount below the source has a flag that another user namespace has locked");
             }) == 0);
}

// Without detached mounts the name is resolved twice, and may have been moved in between.
OCIRUN_CHILD_TEST(a_destination_that_moved_while_mount2_worked_is_refused, CLONE_NEWNS) {
  Scene scene;
  fs::create_directories("/tmp/rootfs/now");
  fs::create_directories("/tmp/rootfs/before");
  scene.attach();
  const UniqueFd source = must(sys::open("/tmp/host", O_PATH | O_DIRECTORY));
  const auto bind = [&](const char* looked_at_before) {
    const MountPoint point{*scene.root, *scene.procfs, RootfsPath("/now"),
                           must(scene.root->open(RootfsPath(looked_at_before), O_PATH)), false};
    return legacy::place_bind(point, source, Recursion::kTop);
  };
  check_text(must_fail(bind("/before")), "changed while something was mounted there");
  must(bind("/now"));
}

// CVE-2021-30465, CVE-2024-45310: another container swaps a component of the destination.
OCIRUN_CHILD_TEST(a_raced_destination_never_leads_out, CLONE_NEWNS) {
  for (const bool old_kernel : {false, true}) {
    BOOST_TEST(run_in_child(CLONE_NEWNS | CLONE_NEWPID, [old_kernel] {
                 Scene scene;
                 fs::create_directories("/tmp/decoy/below");
                 fs::create_directories("/tmp/rootfs/volume/dir");
                 fs::create_symlink("/../../../../tmp/decoy", "/tmp/rootfs/volume/link");
                 if (::fork() == 0) {  // dies with the pid namespace
                   for (;;)
                     ::renameat2(AT_FDCWD, "/tmp/rootfs/volume/dir", AT_FDCWD,
                                 "/tmp/rootfs/volume/link", RENAME_EXCHANGE);
                 }
                 if (old_kernel) {
                   refuse_system_calls(kMountApi);
                   refuse_system_calls({SYS_openat2});
                 }
                 scene.attach();
                 unsigned made = 0;
                 for (int i = 0; i < 300; ++i) {
                   if (scene.try_mount(mount_of("/volume/dir/below", "tmpfs", "tmpfs", ""))) ++made;
                   if (scene.try_mount(bind_of("/volume/dir/file", "/tmp/host/file", "bind")))
                     ++made;
                 }
                 BOOST_TEST(made > 0u);
                 for (const MountLine& line : mount_table())
                   BOOST_TEST(!line.path.starts_with("/tmp/decoy"), line.path);
                 BOOST_TEST(std::distance(fs::recursive_directory_iterator("/tmp/decoy"),
                                          fs::recursive_directory_iterator()) == 1);
               }) == 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
