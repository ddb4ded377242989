#include "linux/mounts/rootfs.hpp"

#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "tests/linux/mounts/mount_api.hpp"
#include "tests/linux/mounts/scene.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;
namespace fs = std::filesystem;

namespace {

const std::vector<RootfsPath> kMasked = {
    RootfsPath("/proc/kcore"), RootfsPath("/proc/keys"),      RootfsPath("/proc/acpi"),
    RootfsPath("/proc/irq"),   RootfsPath("/proc/missing"),   RootfsPath("/etc/hosts"),
    RootfsPath("/data"),       RootfsPath("/proc/missing/x"), RootfsPath("/etc/hosts/x")};

/// A root with proc, and /dev/null for where a container would have it.
void prepare(Scene& scene) {
  Scene::write("/tmp/rootfs/data/secret", "secret");
  scene.attach();
  scene.mount(mount_of("/proc", "proc", "proc", ""));
  must(sys::mknodat(Fd{AT_FDCWD}, "/tmp/rootfs/dev/null", S_IFCHR | 0666, makedev(1, 3)));
}

bool is_null(const char* path) {
  struct stat info{};
  return ::stat(path, &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3);
}

void check_masks() {
  Scene scene;
  prepare(scene);
  const UniqueFd null = must(open_null_mount());
  must(pivot_into(*scene.root));
  must(mask_paths(*scene.root, *scene.procfs, kMasked, null));
  for (const char* path : {"/proc/kcore", "/proc/keys", "/etc/hosts"})
    BOOST_TEST((!fs::exists(path) || is_null(path)), path);
  BOOST_TEST(is_null("/etc/hosts"));
  for (const char* path : {"/data", "/proc/irq"}) {
    BOOST_TEST(fs::is_empty(path), path);
    BOOST_TEST((mount_at(path).type == "tmpfs" && mount_at(path).has("ro")), path);
  }
}

void check_read_only_paths() {
  Scene scene;
  prepare(scene);
  must(sys::mount("tmpfs", "/tmp/rootfs/data", "tmpfs", MS_NOSUID, nullptr));
  must(pivot_into(*scene.root));
  const std::vector<RootfsPath> paths = {RootfsPath("/proc/sys"), RootfsPath("/data"),
                                         RootfsPath("/etc/hosts"), RootfsPath("/missing")};
  must(make_paths_read_only(*scene.root, *scene.procfs, paths));
  for (const char* path : {"/proc/sys", "/data", "/etc/hosts"})
    BOOST_TEST(mount_at(path).has("ro"), path);
  BOOST_TEST(mount_at("/data").has("nosuid"));
  std::ofstream file("/proc/sys/kernel/hostname");
  BOOST_TEST(!file.is_open());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rootfs)

OCIRUN_CHILD_TEST(nothing_of_the_host_is_left_after_the_pivot, CLONE_NEWNS | CLONE_NEWPID) {
  Scene scene;
  prepare(scene);
  must(pivot_into(*scene.root));
  BOOST_TEST(Scene::read("/etc/hosts") == "image");
  BOOST_TEST(fs::current_path() == "/");
  const auto table = mount_table();
  BOOST_TEST(table.size() == 2u);
  for (const MountLine& line : table)
    BOOST_TEST((line.path == "/" || line.path == "/proc"), line.path);
}

OCIRUN_CHILD_TEST(the_pivot_works_without_the_mount_api, CLONE_NEWNS | CLONE_NEWPID) {
  refuse_system_calls(kMountApi);
  Scene scene;
  prepare(scene);
  must(pivot_into(*scene.root));
  BOOST_TEST(mount_table().size() == 2u);
}

OCIRUN_CHILD_TEST(the_pivot_works_in_a_user_namespace, CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUSER) {
  Scene scene;
  scene.attach();
  must(pivot_into(*scene.root));
  BOOST_TEST(Scene::read("/etc/hosts") == "image");
}

OCIRUN_CHILD_TEST(a_shared_host_tree_sees_nothing, CLONE_NEWNS) {  // L-30
  must(sys::mount("tmpfs", "/mnt", "tmpfs", 0, nullptr));
  must(sys::mount("none", "/", nullptr, MS_REC | MS_SHARED, nullptr));
  for (const Propagation kind : {Propagation::kUnchanged, Propagation::kShared, Propagation::kSlave,
                                 Propagation::kPrivate, Propagation::kUnbindable}) {
    const std::size_t before = mount_table().size();
    const long pid =
        ::syscall(SYS_clone, CLONE_NEWNS | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (pid == 0) {
      const bool failed = [kind] {
        must(isolate_mount_tree(kind));
        Scene scene(kind);
        fs::create_directories("/tmp/rootfs/a");
        prepare(scene);
        must(pivot_into(*scene.root));
        must(set_root_propagation(kind, Recursion::kTop));
        must(sys::mount("tmpfs", "/a", "tmpfs", 0, nullptr));
        const std::string seen = mount_at("/").propagation;
        switch (kind) {
          case Propagation::kShared:
            return seen.find("shared:") == std::string::npos;
          case Propagation::kUnbindable:
            return seen != "unbindable ";
          default:
            return seen.find("shared:") != std::string::npos;
        }
      }();
      ::_exit(failed);
    }
    int status = 0;
    ::waitpid(static_cast<pid_t>(pid), &status, 0);
    BOOST_TEST(WEXITSTATUS(status) == 0, "propagation " << static_cast<int>(kind));
    BOOST_TEST(mount_table().size() == before);
  }
}

OCIRUN_CHILD_TEST(a_tree_from_the_parent_is_attached_though_its_path_is_out_of_reach, CLONE_NEWNS) {
  must(sys::mount("tmpfs", "/mnt", "tmpfs", 0, nullptr));
  fs::create_directories("/mnt/closed/rootfs/etc");
  BOOST_TEST(::chown("/mnt/closed", 70000, 70000) == 0);
  fs::permissions("/mnt/closed", fs::perms(0700));
  const HostPath path("/mnt/closed/rootfs");
  const UniqueFd directory = must(sys::open(path.c_str(), O_PATH));
  const DetachedMount tree = must(DetachedMount::clone_of(directory, Recursion::kTree));
  BOOST_TEST(run_in_child(CLONE_NEWNS | CLONE_NEWUSER, [&] {
               const Procfs procfs = must(Procfs::open(Procfs::Subset::kProcesses));
               must(isolate_mount_tree(Propagation::kUnchanged));
               BOOST_TEST(!attach_rootfs(path, UniqueFd(), procfs, Propagation::kUnchanged));
               const SafeDir root = must(attach_rootfs(path, UniqueFd(::dup(tree.fd().value)),
                                                       procfs, Propagation::kUnchanged));
               must(pivot_into(root));
               BOOST_TEST(fs::exists("/etc"));
               BOOST_TEST(!fs::exists("/mnt"));
             }) == 0);
}

OCIRUN_CHILD_TEST(the_hosts_root_itself_can_be_the_rootfs, CLONE_NEWNS) {
  const Procfs procfs = must(Procfs::open(Procfs::Subset::kProcesses));
  must(isolate_mount_tree(Propagation::kUnchanged));
  const SafeDir root =
      must(attach_rootfs(HostPath("/"), UniqueFd(), procfs, Propagation::kUnchanged));
  const std::size_t before = mount_table().size();
  must(pivot_into(root));
  BOOST_TEST(mount_table().size() < before);
  BOOST_TEST(fs::exists("/etc/passwd"));
}

OCIRUN_CHILD_TEST(a_rootfs_must_be_a_directory, CLONE_NEWNS) {  // T-2
  Scene scene;
  const auto error = [&](const char* path) {
    return must_fail(
        attach_rootfs(HostPath(path), UniqueFd(), *scene.procfs, Propagation::kUnchanged));
  };
  check_text(error("/tmp/host/file"), "mount the rootfs /tmp/host/file: open: not a directory");
  check_text(error("/tmp/nowhere"), "no such file or directory");
}

OCIRUN_CHILD_TEST(no_pivot_moves_the_root_and_takes_the_hosts_proc_away,
                  CLONE_NEWNS | CLONE_NEWPID) {
  Scene scene;
  prepare(scene);
  must(sys::mount("/proc", "/mnt", nullptr, MS_BIND | MS_REC, nullptr));
  must(move_into(*scene.root, *scene.procfs));
  BOOST_TEST(Scene::read("/etc/hosts") == "image");
  BOOST_TEST(fs::current_path() == "/");
  const std::string all = must(scene.procfs->read("self/mountinfo"));
  std::size_t procs = 0;
  for (std::size_t at = all.find(" - proc "); at != std::string::npos;
       at = all.find(" - proc ", at + 1))
    ++procs;
  BOOST_TEST(procs == 1u);
  BOOST_TEST(all.find(" - sysfs ") == std::string::npos);
}

OCIRUN_CHILD_TEST(chroot_alone_changes_no_mount, CLONE_NEWNS) {
  Scene scene;
  scene.attach();
  must(chroot_into(*scene.root));
  BOOST_TEST(Scene::read("/etc/hosts") == "image");
}

OCIRUN_CHILD_TEST(the_root_becomes_read_only_and_mounts_in_it_do_not,
                  CLONE_NEWNS | CLONE_NEWPID) {  // T-3
  for (const bool old_kernel : {false, true})
    BOOST_TEST(run_in_child(CLONE_NEWNS, [old_kernel] {
                 if (old_kernel) refuse_system_calls({SYS_mount_setattr});
                 Scene scene;
                 prepare(scene);
                 scene.mount(mount_of("/data", "tmpfs", "tmpfs", ""));
                 must(pivot_into(*scene.root));
                 must(make_root_read_only(*scene.procfs));
                 BOOST_TEST(mount_at("/").has("ro"));
                 BOOST_TEST(mount_at("/data").has("rw"));
               }) == 0);
}

OCIRUN_CHILD_TEST(masked_paths_are_empty, CLONE_NEWNS | CLONE_NEWPID) { check_masks(); }  // L-31
OCIRUN_CHILD_TEST(masked_paths_are_empty_without_the_mount_api, CLONE_NEWNS | CLONE_NEWPID) {
  refuse_system_calls(kMountApi);
  check_masks();
}
OCIRUN_CHILD_TEST(masked_paths_are_empty_without_move_mount, CLONE_NEWNS | CLONE_NEWPID) {
  refuse_system_calls({SYS_move_mount});
  check_masks();
}
OCIRUN_CHILD_TEST(masked_paths_are_empty_in_a_user_namespace,
                  CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUSER) {
  Scene scene;
  Scene::write("/tmp/rootfs/data/secret", "secret");
  scene.attach();
  const UniqueFd null = must(open_null_mount());
  must(pivot_into(*scene.root));
  must(mask_paths(*scene.root, *scene.procfs, kMasked, null));
  BOOST_TEST(is_null("/etc/hosts"));
  BOOST_TEST(fs::is_empty("/data"));
}

// Otherwise a process of the image could change the mode of the host's /dev/null through the first
// mask.
OCIRUN_CHILD_TEST(a_mask_is_read_only_before_it_is_seen, CLONE_NEWNS) {
  const UniqueFd null = must(open_null_mount());
  struct statvfs info{};
  BOOST_REQUIRE(::fstatvfs(null.get(), &info) == 0);
  BOOST_TEST((info.f_flag & ST_RDONLY) != 0);
}

OCIRUN_CHILD_TEST(a_mask_never_is_the_containers_own_null,
                  CLONE_NEWNS | CLONE_NEWPID) {  // CVE-2025-31133
  Scene scene;
  Scene::write("/tmp/rootfs/payload", "attacker's");
  fs::create_symlink("/payload", "/tmp/rootfs/dev/null");
  scene.attach();
  const UniqueFd null = must(open_null_mount());
  must(pivot_into(*scene.root));
  must(mask_paths(*scene.root, *scene.procfs, kMasked, null));
  BOOST_TEST(is_null("/etc/hosts"));
}

OCIRUN_CHILD_TEST(without_detached_mounts_a_false_null_is_refused, CLONE_NEWNS | CLONE_NEWPID) {
  refuse_system_calls(kMountApi);
  Scene scene;
  Scene::write("/tmp/rootfs/dev/null", "attacker's");
  scene.attach();
  const UniqueFd null = must(open_null_mount());
  must(pivot_into(*scene.root));
  check_text(must_fail(mask_paths(*scene.root, *scene.procfs, kMasked, null)),
             "mask /etc/hosts: /dev/null is not the character device 1:3");
}

OCIRUN_CHILD_TEST(a_symlink_that_points_to_itself_cannot_be_masked, CLONE_NEWNS) {  // L-31
  Scene scene;
  fs::create_symlink("/loop", "/tmp/rootfs/loop");
  scene.attach();
  const std::vector<RootfsPath> paths = {RootfsPath("/loop")};
  const UniqueFd null = must(open_null_mount());
  check_text(must_fail(mask_paths(*scene.root, *scene.procfs, paths, null)),
             "mask /loop: open: too many levels of symbolic links");
  BOOST_TEST(!make_paths_read_only(*scene.root, *scene.procfs, paths));
}

OCIRUN_CHILD_TEST(read_only_paths_refuse_writes, CLONE_NEWNS | CLONE_NEWPID) {  // L-32
  check_read_only_paths();
}
OCIRUN_CHILD_TEST(read_only_paths_refuse_writes_without_the_mount_api, CLONE_NEWNS | CLONE_NEWPID) {
  refuse_system_calls(kMountApi);
  check_read_only_paths();
}

BOOST_AUTO_TEST_SUITE_END()
