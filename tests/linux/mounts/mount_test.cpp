#include "linux/mounts/mount.hpp"

#include <sys/syscall.h>

#include "linux/base/file_io.hpp"
#include "tests/linux/mounts/mount_api.hpp"
#include "tests/linux/mounts/scene.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;
namespace fs = std::filesystem;

namespace {

/// What `ocirun spec` asks for, but for /dev, which has a test of its own.
const std::vector<Mount>& usual_mounts() {
  static const std::vector<Mount> mounts = {
      mount_of("/proc", "proc", "proc", ""),
      mount_of("/dev", "tmpfs", "tmpfs", "nosuid,strictatime,mode=755,size=65536k"),
      mount_of("/dev/pts", "devpts", "devpts",
               "nosuid,noexec,newinstance,ptmxmode=0666,mode=0620,gid=5"),
      mount_of("/dev/shm", "tmpfs", "shm", "nosuid,noexec,nodev,mode=1777,size=65536k"),
      mount_of("/dev/mqueue", "mqueue", "mqueue", "nosuid,noexec,nodev"),
      mount_of("/sys", "sysfs", "sysfs", "nosuid,noexec,nodev,ro")};
  return mounts;
}

void check_usual_mounts() {
  for (const Mount& mount : usual_mounts())
    BOOST_TEST(mount_at("/tmp/rootfs" + mount.destination.string()).type == mount.type);
  BOOST_TEST(mount_at("/tmp/rootfs/dev").has("nosuid"));
  BOOST_TEST(!mount_at("/tmp/rootfs/dev").has("relatime"));  // strictatime
  BOOST_TEST(mount_at("/tmp/rootfs/dev").superblock.find("size=65536k") != std::string::npos);
  BOOST_TEST(mount_at("/tmp/rootfs/dev/pts").superblock.find("gid=5,mode=620,ptmxmode=666") !=
             std::string::npos);
  const MountLine sysfs = mount_at("/tmp/rootfs/sys");
  BOOST_TEST((sysfs.has("ro") && sysfs.has("nodev") && sysfs.has("noexec") && sysfs.has("nosuid")));
}

constexpr unsigned long kNamespaces = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET;

}  // namespace

BOOST_AUTO_TEST_SUITE(mount)

OCIRUN_CHILD_TEST(the_usual_mounts_are_made, kNamespaces) {
  Scene scene;
  for (const Mount& mount : usual_mounts()) scene.mount(mount);
  check_usual_mounts();
}

OCIRUN_CHILD_TEST(the_usual_mounts_are_made_in_a_user_namespace, kNamespaces | CLONE_NEWUSER) {
  Scene scene;
  for (const Mount& mount : usual_mounts()) scene.mount(mount);
  check_usual_mounts();
}

OCIRUN_CHILD_TEST(the_usual_mounts_are_made_without_the_mount_api,
                  kNamespaces) {  // before Linux 5.2
  refuse_system_calls(kMountApi);
  Scene scene;
  for (const Mount& mount : usual_mounts()) scene.mount(mount);
  check_usual_mounts();
}

OCIRUN_CHILD_TEST(the_usual_mounts_are_made_without_openat2, kNamespaces) {  // before Linux 5.6
  refuse_system_calls({SYS_openat2});
  Scene scene;
  for (const Mount& mount : usual_mounts()) scene.mount(mount);
  check_usual_mounts();
}

OCIRUN_CHILD_TEST(any_one_call_of_the_mount_api_may_be_missing, kNamespaces) {
  for (const long call : kMountApi) {
    const int status = run_in_child(CLONE_NEWNS, [call] {
      refuse_system_calls({call});
      Scene scene;
      for (const Mount& mount : usual_mounts()) scene.mount(mount);
      scene.mount(bind_of("/data", "/tmp/host", "rbind,ro,nosuid,rprivate"));
      check_usual_mounts();
      BOOST_TEST(mount_at("/tmp/rootfs/data").has("ro"));
      BOOST_TEST(Scene::read("/tmp/rootfs/data/file") == "host");
    });
    BOOST_TEST(status == 0, "without system call " << call);
  }
}

OCIRUN_CHILD_TEST(a_bind_mount_gets_its_attributes_and_no_others, CLONE_NEWNS) {
  Scene scene;
  scene.mount(bind_of("/data", "/tmp/host", "bind,ro,noexec,nosuid,nodev,noatime"));
  const MountLine line = mount_at("/tmp/rootfs/data");
  for (const char* option : {"ro", "noexec", "nosuid", "nodev", "noatime"})
    BOOST_TEST(line.has(option), option);
  BOOST_TEST(Scene::read("/tmp/rootfs/data/file") == "host");
  scene.mount(bind_of("/plain", "/tmp/host", "bind"));
  BOOST_TEST((mount_at("/tmp/rootfs/plain").options == "rw,relatime"));
}

OCIRUN_CHILD_TEST(ro_is_for_the_top_mount_and_rro_for_all, CLONE_NEWNS) {
  Scene scene;
  must(sys::mount("tmpfs", "/tmp/host/below", "tmpfs", 0, nullptr));
  scene.mount(bind_of("/data", "/tmp/host", "rbind,ro"));
  BOOST_TEST(mount_at("/tmp/rootfs/data").has("ro"));
  BOOST_TEST(mount_at("/tmp/rootfs/data/below").has("rw"));
  scene.mount(bind_of("/all", "/tmp/host", "rbind,rro,rnoatime,rnosymfollow"));
  for (const char* path : {"/tmp/rootfs/all", "/tmp/rootfs/all/below"}) {
    BOOST_TEST(mount_at(path).has("ro"), path);
    BOOST_TEST(mount_at(path).has("noatime"), path);
    BOOST_TEST(mount_at(path).has("nosymfollow"), path);
  }
  scene.mount(bind_of("/top", "/tmp/host", "rbind,rro,rw"));
  BOOST_TEST(mount_at("/tmp/rootfs/top").has("rw"));
  BOOST_TEST(mount_at("/tmp/rootfs/top/below").has("ro"));
}

OCIRUN_CHILD_TEST(every_recursive_option_is_taken_by_the_kernel, CLONE_NEWNS) {  // option table
  Scene scene;
  for (const char* option :
       {"ratime", "rdev", "rdiratime", "rexec", "rnoatime", "rnodev", "rnodiratime", "rnoexec",
        "rnorelatime", "rnostrictatime", "rnosuid", "rrelatime", "rro", "rrw", "rstrictatime",
        "rsuid", "rnosymfollow", "rsymfollow"}) {
    BOOST_TEST(
        scene.try_mount(bind_of("/data", "/tmp/host", std::string("rbind,") + option)).has_value(),
        option);
  }
}

OCIRUN_CHILD_TEST(every_flag_of_the_table_is_taken_by_a_tmpfs, CLONE_NEWNS) {  // option table
  Scene scene;
  for (std::string_view option : known_mount_options()) {
    Mount mount = mount_of("/data", "tmpfs", "tmpfs", std::string(option));
    if (mount.bind || mount.remount || mount.id_map_kind != IdMapKind::kNone) continue;
    const auto made = scene.try_mount(mount);
    BOOST_TEST(made.has_value(), option << ": " << (made ? "" : made.error().message()));
  }
}

OCIRUN_CHILD_TEST(superblock_options_reach_the_filesystem, CLONE_NEWNS) {
  Scene scene;
  scene.mount(mount_of("/data", "tmpfs", "tmpfs", "sync,dirsync"));
  BOOST_TEST(mount_at("/tmp/rootfs/data").superblock.find("sync,dirsync") != std::string::npos);
  scene.mount(mount_of("/data", "tmpfs", "tmpfs", "sync,async,silent"));
  BOOST_TEST(mount_at("/tmp/rootfs/data").superblock.find("sync") == std::string::npos);
}

OCIRUN_CHILD_TEST(a_file_is_bound_onto_a_file_that_is_made_for_it, CLONE_NEWNS) {  // M-11
  Scene scene;
  scene.mount(bind_of("/new/dir/file", "/tmp/host/file", "bind,ro"));
  BOOST_TEST(Scene::read("/tmp/rootfs/new/dir/file") == "host");
  scene.mount(bind_of("/etc/hosts", "/tmp/host/file", "bind"));
  BOOST_TEST(Scene::read("/tmp/rootfs/etc/hosts") == "host");
  check_text(must_fail(scene.try_mount(bind_of("/etc/hosts", "/tmp/host", "bind"))),
             "not a directory");
}

OCIRUN_CHILD_TEST(a_relative_destination_is_below_the_root, CLONE_NEWNS) {  // M-2
  Scene scene;
  scene.mount(mount_of("a/b", "tmpfs", "tmpfs", ""));
  BOOST_TEST(mount_at("/tmp/rootfs/a/b").type == "tmpfs");
}

OCIRUN_CHILD_TEST(a_missing_source_is_named, CLONE_NEWNS) {  // M-3
  Scene scene;
  const std::string error = must_fail(scene.try_mount(bind_of("/data", "/tmp/nowhere", "bind")));
  BOOST_TEST(error == "mount /data: open the source /tmp/nowhere: no such file or directory");
}

OCIRUN_CHILD_TEST(requests_that_nobody_can_grant_are_explained, CLONE_NEWNS) {
  Scene scene;
  const auto error = [&](const Mount& mount) { return must_fail(scene.try_mount(mount)); };
  check_text(error(bind_of("/data", "/tmp/host", "bind,size=1m")),  // M-7
             "bind mounts cannot have any filesystem-specific options applied");
  check_text(error(mount_of("/data", "bind", "/tmp/host", "ro")),
             "option \"bind\" or \"rbind\"");                                   // M-4
  check_text(error(mount_of("/data", "", "/tmp/host", "ro")), "needs a type");  // M-5
  check_text(error(mount_of("/data", "nosuchfs", "x", "")), "nosuchfs");
  check_text(error(mount_of("/data", "tmpfs", "tmpfs", "size=many")), "size=many");
  check_text(error(mount_of("/data", "tmpfs", "tmpfs", "size=many")), "Bad value for 'size'");
  check_text(error(mount_of("/data", "proc", "proc", "tmpcopyup")), "tmpfs");
  check_text(error(bind_of("/data", "/tmp/host", "bind,idmap")), "idmap");  // M-8
  check_text(error(bind_of("", "/tmp/host", "bind")), "destination");
}

OCIRUN_CHILD_TEST(each_mount_has_the_propagation_it_asks_for, CLONE_NEWNS) {
  Scene scene;
  const auto propagation = [&](const char* options) {
    scene.mount(bind_of("/data", "/tmp/host", options));
    return mount_at("/tmp/rootfs/data").propagation;
  };
  BOOST_TEST(propagation("rbind") == "");
  BOOST_TEST(propagation("rbind,rprivate") == "");
  BOOST_TEST(propagation("rbind,rshared").starts_with("shared:"));
  BOOST_TEST(propagation("rbind,unbindable") == "unbindable ");
  scene.mount(mount_of("/data", "tmpfs", "tmpfs", "shared"));
  BOOST_TEST(mount_at("/tmp/rootfs/data").propagation.starts_with("shared:"));
}

// The child is the host here, the child's child the container.
OCIRUN_CHILD_TEST(a_bind_opened_early_hears_the_host_and_a_shared_one_is_heard, CLONE_NEWNS) {
  must(sys::mount("none", "/", nullptr, MS_REC | MS_SHARED, nullptr));
  must(sys::mount("volume", "/mnt", "tmpfs", 0, nullptr));
  fs::create_directories("/mnt/a");
  fs::create_directories("/mnt/b");
  Pipe ready = must(make_pipe());
  Pipe go = must(make_pipe());
  const auto container = [&] {
    go.writer.reset();
    const Mount shared = bind_of("/shared", "/mnt", "rbind,rshared");
    const Mount slave = bind_of("/slave", "/mnt", "rbind,rslave");
    if (!wants_early_open(shared) || !wants_early_open(slave)) return 1;
    const Procfs procfs = must(Procfs::open(Procfs::Subset::kProcesses));
    UniqueFd early_shared = must(open_bind(procfs, shared));
    UniqueFd early_slave = must(open_bind(procfs, slave));
    must(isolate_mount_tree(Propagation::kPrivate));
    Scene scene;
    must(make_mount(scene.context(), shared, std::move(early_shared)));
    must(make_mount(scene.context(), slave, std::move(early_slave)));
    must(sys::mount("up", "/tmp/rootfs/shared/a", "tmpfs", 0, nullptr));
    char byte;
    if (::write(ready.writer.get(), "r", 1) != 1 || ::read(go.reader.get(), &byte, 1) != 1)
      return 2;
    return is_mounted("/tmp/rootfs/slave/b") && is_mounted("/tmp/rootfs/shared/b") ? 0 : 3;
  };
  const long pid = ::syscall(SYS_clone, CLONE_NEWNS | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) {
    try {
      ::_exit(container());
    } catch (const std::exception& error) {
      std::cerr << error.what() << std::endl;
      ::_exit(4);
    }
  }
  ready.writer.reset();
  char byte;
  BOOST_TEST(::read(ready.reader.get(), &byte, 1) == 1);
  BOOST_TEST(is_mounted("/mnt/a"));
  must(sys::mount("down", "/mnt/b", "tmpfs", 0, nullptr));
  BOOST_TEST(!is_mounted("/tmp/rootfs"));  // nothing else came out
  BOOST_TEST(::write(go.writer.get(), "g", 1) == 1);
  int status = 0;
  ::waitpid(static_cast<pid_t>(pid), &status, 0);
  BOOST_TEST(WEXITSTATUS(status) == 0);
}

OCIRUN_CHILD_TEST(a_tmpfs_inherits_the_mode_of_what_it_covers, CLONE_NEWNS) {  // M-14
  Scene scene;
  fs::create_directory("/tmp/rootfs/covered");
  fs::permissions("/tmp/rootfs/covered", fs::perms(01750));
  const auto mode = [](const char* path) {
    return static_cast<unsigned>(fs::status(path).permissions());
  };
  scene.mount(mount_of("/covered", "tmpfs", "tmpfs", "nosuid"));
  BOOST_TEST(mode("/tmp/rootfs/covered") == 01750u);
  scene.mount(mount_of("/covered", "tmpfs", "tmpfs", "mode=700"));
  BOOST_TEST(mode("/tmp/rootfs/covered") == 0700u);
  scene.mount(mount_of("/fresh", "tmpfs", "tmpfs", "nosuid"));
  BOOST_TEST(mode("/tmp/rootfs/fresh") == 01777u);
}

void check_copy_up() {
  Scene scene;
  fs::create_directories("/tmp/rootfs/var/a/b");
  Scene::write("/tmp/rootfs/var/a/file", "text");
  fs::permissions("/tmp/rootfs/var/a/file", fs::perms(04751));
  BOOST_TEST(::chown("/tmp/rootfs/var/a", 7, 8) == 0);
  fs::create_symlink("/tmp/host/file", "/tmp/rootfs/var/link");
  BOOST_TEST(::mkfifo("/tmp/rootfs/var/fifo", 0640) == 0);
  scene.mount(mount_of("/var", "tmpfs", "tmpfs", "tmpcopyup,ro,size=1m"));
  const MountLine line = mount_at("/tmp/rootfs/var");
  BOOST_TEST((line.type == "tmpfs" && line.has("ro")));
  BOOST_TEST(Scene::read("/tmp/rootfs/var/a/file") == "text");
  BOOST_TEST(fs::read_symlink("/tmp/rootfs/var/link") == "/tmp/host/file");
  BOOST_TEST(fs::is_fifo("/tmp/rootfs/var/fifo"));
  struct stat info{};
  BOOST_TEST(::stat("/tmp/rootfs/var/a/file", &info) == 0);
  BOOST_TEST((info.st_mode & 07777) == 04751u);
  BOOST_TEST(::stat("/tmp/rootfs/var/a", &info) == 0);
  BOOST_TEST((info.st_uid == 7u && info.st_gid == 8u));
  Scene::write("/tmp/rootfs/big", std::string(2 << 20, 'x'));
  fs::create_directory("/tmp/rootfs/small");
  fs::rename("/tmp/rootfs/big", "/tmp/rootfs/small/big");
  check_text(must_fail(scene.try_mount(mount_of("/small", "tmpfs", "tmpfs", "tmpcopyup,size=1m"))),
             "tmpcopyup: big: copy: no space left on device");
}

OCIRUN_CHILD_TEST(tmpcopyup_copies_what_is_covered, CLONE_NEWNS) { check_copy_up(); }
OCIRUN_CHILD_TEST(tmpcopyup_copies_without_the_mount_api_too, CLONE_NEWNS) {
  refuse_system_calls(kMountApi);
  check_copy_up();
}

OCIRUN_CHILD_TEST(a_read_only_dev_is_finished_after_the_devices, CLONE_NEWNS) {
  Scene scene;
  const auto unfinished =
      must(scene.try_mount(mount_of("/dev/", "tmpfs", "tmpfs", "nosuid,ro,mode=755")));
  BOOST_REQUIRE(unfinished.has_value());
  BOOST_TEST(mount_at("/tmp/rootfs/dev").has("rw"));
  must(finish_mount(*scene.procfs, *unfinished));
  BOOST_TEST(mount_at("/tmp/rootfs/dev").has("ro"));
  BOOST_TEST(mount_at("/tmp/rootfs/dev").has("nosuid"));
  BOOST_TEST(!must(scene.try_mount(mount_of("/data", "tmpfs", "tmpfs", "ro"))).has_value());
  BOOST_TEST(mount_at("/tmp/rootfs/data").has("ro"));
}

OCIRUN_CHILD_TEST(a_remount_changes_what_it_names_only, CLONE_NEWNS) {
  Scene scene;
  scene.mount(mount_of("/data", "tmpfs", "tmpfs", "nosuid,nodev,noatime,size=1m"));
  scene.mount(mount_of("/data", "", "", "remount,bind,ro"));
  for (const char* option : {"ro", "nosuid", "nodev", "noatime"})
    BOOST_TEST(mount_at("/tmp/rootfs/data").has(option), option);
  scene.mount(mount_of("/data", "", "", "remount,rw,size=2m"));
  BOOST_TEST(mount_at("/tmp/rootfs/data").has("rw"));
  BOOST_TEST(mount_at("/tmp/rootfs/data").superblock.find("size=2048k") != std::string::npos);
  check_text(must_fail(scene.try_mount(mount_of("/etc", "", "", "remount,ro"))), "no mount point");
}

OCIRUN_CHILD_TEST(a_mount_on_the_root_becomes_the_root, CLONE_NEWNS) {  // M-16
  Scene scene;
  scene.mount(mount_of("/", "tmpfs", "tmpfs", "mode=755"));
  scene.mount(bind_of("/volume", "/tmp/host", "bind"));
  BOOST_TEST(must(scene.root->open(RootfsPath("/volume/file"), O_RDONLY)).get() >= 0);
  BOOST_TEST(!scene.root->open(RootfsPath("/etc/hosts"), O_PATH).has_value());
  must(pivot_into(*scene.root));
  BOOST_TEST(Scene::read("/volume/file") == "host");
  BOOST_TEST(!fs::exists("/etc"));
}

OCIRUN_CHILD_TEST(the_fallback_keeps_flags_that_it_is_not_told_to_change, CLONE_NEWNS) {
  Scene scene;
  must(sys::mount("tmpfs", "/tmp/host/below", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOATIME, nullptr));
  refuse_system_calls(kMountApi);
  scene.mount(bind_of("/data", "/tmp/host/below", "bind,ro"));
  for (const char* option : {"ro", "nosuid", "nodev", "noatime"})
    BOOST_TEST(mount_at("/tmp/rootfs/data").has(option), option);
  scene.mount(bind_of("/rw", "/tmp/host/below", "bind,suid,strictatime"));
  BOOST_TEST((mount_at("/tmp/rootfs/rw").options == "rw,nodev"));
  scene.mount(bind_of("/shared", "/tmp/host", "rbind,rshared"));
  BOOST_TEST(mount_at("/tmp/rootfs/shared").propagation.starts_with("shared:"));
  BOOST_TEST(is_mounted("/tmp/rootfs/shared/below"));
  check_text(must_fail(scene.try_mount(bind_of("/rro", "/tmp/host", "rbind,rro"))), "Linux 5.12");
}

OCIRUN_CHILD_TEST(an_option_longer_than_fsconfig_takes_goes_another_way, CLONE_NEWNS) {
  Scene scene;
  std::string lower;
  for (int i = 0; i < 12; ++i) {
    const std::string directory = fmt::format("/tmp/host/{:030}", i);
    fs::create_directories(directory);
    lower += (i == 0 ? "" : ":") + directory;
  }
  Scene::write(fmt::format("/tmp/host/{:030}/deep", 11), "deep");
  scene.mount(mount_of("/data", "overlay", "overlay", "lowerdir=" + lower));
  BOOST_TEST(Scene::read("/tmp/rootfs/data/deep") == "deep");
}

BOOST_AUTO_TEST_SUITE_END()
