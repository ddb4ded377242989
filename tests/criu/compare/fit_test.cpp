#include "criu/compare/fit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/capability.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "tests/linux/mounts/scene.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;
using linux::NamespaceKind;

namespace {

const linux::IdMap kMap{.uids = {{0, 100000, 10}}, .gids = {{0, 100000, 10}}};

linux::Procfs procfs_of_processes() {
  return must(linux::Procfs::open(linux::Procfs::Subset::kProcesses));
}

/// A document, and images that fit: a container without CAP_SYS_ADMIN that has a proc, a recursive
/// bind, a bind on a path that the image's symlink leads elsewhere, and a cgroup.
struct Pair {
  Pair() {
    std::filesystem::create_directories(scratch / "rootfs/real/inside");
    std::filesystem::create_directories(scratch / "rootfs/real/tmp");
    std::filesystem::create_directories(scratch / "rootfs/tree");
    std::filesystem::create_directories(scratch / "source");
    std::filesystem::create_symlink("/real", scratch / "rootfs/link");
    config.root_path = HostPath(scratch / "rootfs");
    config.mounts = {mount_of("/proc/", "proc", "proc", ""),
                     bind_of("/tree", scratch / "source", "rbind"),
                     bind_of("/link/inside", scratch / "source", "bind"),
                     mount_of("/link/tmp", "tmpfs", "tmpfs", ""),
                     mount_of("/sys/fs/cgroup", "cgroup", "cgroup", "")};
    config.masked_paths = {RootfsPath("/proc/kcore")};
    config.readonly_paths = {RootfsPath("/proc/sys")};
    config.devices = {{.kind = linux::Device::Kind::kCharacter,
                       .path = RootfsPath("/dev/fuse"),
                       .mode = {},
                       .uid = {},
                       .gid = {}}};
    for (const NamespaceKind kind : {NamespaceKind::kMount, NamespaceKind::kPid}) create(kind);
    bundle::Process& process = config.process.emplace();
    process.capabilities.emplace().bounding.add(CAP_CHOWN);
    for (const char* point :
         {"/", "/proc", "/tree/deep", "/real/tmp", "/sys/fs/cgroup", "/sys/fs/cgroup/memory",
          "/proc/sys", "/dev/fuse", "/dev/null", "/dev/console"})
      add(point);
    add("/tree", "/tree");
    add("/real/inside", "/link/inside");
    add("/proc/kcore", "/proc/kcore");
    images.own_namespaces = {NamespaceKind::kMount, NamespaceKind::kPid};
    images.processes = {{.pid = 1}, {.pid = 2}};
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  void create(NamespaceKind kind) { must(config.namespaces.add({.kind = kind, .path = {}})); }
  void join(NamespaceKind kind, const std::string& path) {
    must(config.namespaces.add({.kind = kind, .path = HostPath(path)}));
  }
  void add(const std::string& point, const std::string& external = "") {
    images.mounts.push_back({.point = point, .root = "/", .type = {}, .external = external});
  }
  void allow_mounting() { config.process->capabilities->bounding.add(CAP_SYS_ADMIN); }

  Obstacles with_document() const {
    Obstacles obstacles;
    compare_with_document(images, config, procfs, obstacles);
    return obstacles;
  }
  Obstacles with_host() const {
    Obstacles obstacles;
    compare_with_host(images, config, obstacles);
    return obstacles;
  }
  Obstacles document_with_host() const {
    Obstacles obstacles;
    compare_document_with_host(config, procfs, obstacles);
    return obstacles;
  }

  Scratch scratch;
  linux::Procfs procfs = procfs_of_processes();
  bundle::Config config;
  Images images;
};

void check_none(const Obstacles& obstacles) {
  BOOST_TEST(obstacles == Obstacles{}, boost::test_tools::per_element());
}
/// Checks that there is one obstacle, which says `part`.
void check_one(const Obstacles& obstacles, std::string_view part) {
  BOOST_TEST_REQUIRE(obstacles.size() == 1U, fmt::format("{}", fmt::join(obstacles, "\n")));
  check_text(obstacles.front(), part);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fit, *needs_root())

BOOST_AUTO_TEST_CASE(a_fitting_pair_has_no_obstacles) {
  const Pair pair;
  check_none(pair.with_document());
  check_none(pair.with_host());
  check_none(pair.document_with_host());
}

BOOST_AUTO_TEST_CASE(a_mount_point_that_restore_will_make_lies_behind_its_symlinks) {
  const Pair pair;
  std::filesystem::remove(pair.scratch / "rootfs/real/tmp");
  check_none(pair.with_document());
}

BOOST_AUTO_TEST_CASE(a_mount_of_the_host_that_the_document_lacks_is_an_obstacle) {
  for (const bool may_mount : {false, true}) {
    Pair pair;
    if (may_mount) pair.allow_mounting();
    pair.add("/etc\n", "/nowhere");
    check_one(pair.with_document(),
              "the images have a mount of the host on /etc\\x0a that they call /nowhere");
  }
}

BOOST_AUTO_TEST_CASE(a_mount_of_the_document_that_the_images_lack_is_an_obstacle) {
  const Pair whole;
  const std::pair<const char*, const char*> names[] = {
      {"/proc", "/mounts/0: the images have no mount on /proc"},
      {"/tree", "/mounts/1: the images have no mount on /tree"},
      {"/real/inside", "/mounts/2: the images have no mount on /link/inside"},
      {"/real/tmp", "/mounts/3: the images have no mount on /link/tmp"}};
  for (const auto& [point, sentence] : names) {
    Pair pair;
    std::erase_if(pair.images.mounts,
                  [&](const ImageMount& mount) { return mount.point == point; });
    check_one(pair.with_document(), sentence);
    pair.allow_mounting();  // the container may have unmounted it
    check_none(pair.with_document());
  }
}

BOOST_AUTO_TEST_CASE(a_bind_is_known_by_its_name_and_a_remount_is_no_mount) {
  Pair pair;
  pair.config.mounts.push_back(bind_of("/nowhere", "/nowhere", "bind,remount,ro"));
  check_none(pair.with_document());
  for (ImageMount& mount : pair.images.mounts)
    if (mount.external == "/link/inside") mount.point = "/elsewhere";
  check_none(pair.with_document());
  for (ImageMount& mount : pair.images.mounts)
    if (mount.external == "/link/inside") mount.external = "/tree";
  check_one(pair.with_document(), "/mounts/2: the images have no mount on /link/inside");
}

BOOST_AUTO_TEST_CASE(a_mount_that_the_document_lacks_is_an_obstacle) {
  for (const char* point :
       {"/elsewhere", "/proc/1", "/treetop", "/link/tmp", "/real/inside/deep"}) {
    Pair pair;
    pair.add(point);
    check_one(pair.with_document(), std::string("the images have a mount on ") + point +
                                        " that config.json does not have");
    pair.allow_mounting();
    check_none(pair.with_document());
  }
}

BOOST_AUTO_TEST_CASE(each_entry_of_the_document_has_a_place) {
  Pair pair;
  pair.config.masked_paths.clear();
  std::erase_if(pair.images.mounts,
                [](const ImageMount& mount) { return mount.external == "/proc/kcore"; });
  check_none(pair.with_document());
  pair.add("/proc/kcore");
  check_one(pair.with_document(), "a mount on /proc/kcore that config.json does not have");
  pair.config.masked_paths = {RootfsPath("/proc/kcore")};
  check_none(pair.with_document());
  pair.config.readonly_paths.clear();
  check_one(pair.with_document(), "a mount on /proc/sys that config.json does not have");
  pair.config.readonly_paths = {RootfsPath("/proc/sys")};
  pair.config.devices.clear();
  check_one(pair.with_document(), "a mount on /dev/fuse that config.json does not have");
}

BOOST_AUTO_TEST_CASE(a_missing_root_filesystem_is_told_by_the_check_of_the_host_alone) {
  Pair pair;
  pair.config.root_path = HostPath(pair.scratch / "missing");
  pair.config.mounts.resize(1);
  pair.images.mounts.resize(2);
  check_none(pair.with_document());
}

BOOST_AUTO_TEST_CASE(new_and_joined_namespaces_are_those_of_the_images) {
  Pair pair;
  pair.create(NamespaceKind::kIpc);
  check_one(pair.with_document(),
            "/linux/namespaces: the container of the images has no ipc namespace of its own");
  pair.images.own_namespaces.push_back(NamespaceKind::kIpc);
  check_none(pair.with_document());
  Pair joining;
  joining.join(NamespaceKind::kUts, "/proc/self/ns/uts");
  joining.join(NamespaceKind::kNetwork, "/proc/self/ns/net");
  check_none(joining.with_document());
  joining.images.own_namespaces.push_back(NamespaceKind::kNetwork);
  check_none(joining.with_document());  // criu is not in a joined network namespace
  joining.images.own_namespaces.push_back(NamespaceKind::kUts);
  check_one(joining.with_document(),
            "the container of the images has a uts namespace of its own: it has joined none");
}

BOOST_AUTO_TEST_CASE(the_user_namespace_and_its_map_are_those_of_the_images) {
  Pair pair;
  pair.images.id_map = kMap;
  check_one(pair.with_document(), "the container of the images has a user namespace: add");
  pair.create(NamespaceKind::kUser);
  pair.images.own_namespaces.push_back(NamespaceKind::kUser);
  pair.config.id_map = kMap;
  check_none(pair.with_document());
  pair.config.id_map.gids[0].size = 11;
  check_one(pair.with_document(), "the user namespace of the images maps other ids");
  pair.images.id_map.reset();
  std::erase(pair.images.own_namespaces, NamespaceKind::kUser);
  check_one(pair.with_document(),
            "the container of the images has no user namespace of its own: leave the entry out");
}

BOOST_AUTO_TEST_CASE(the_processor_is_of_the_same_kind) {
  Pair pair;
  pair.images.machine = "vax";
  utsname names{};
  BOOST_TEST_REQUIRE(::uname(&names) == 0);
  check_one(pair.with_host(),
            std::string("the images are of a processor vax: this host has ") + names.machine);
  pair.images.machine = names.machine;
  check_none(pair.with_host());
}

BOOST_AUTO_TEST_CASE(this_kernel_has_the_types_of_file_systems) {
  Pair pair;
  pair.images.mounts[1].type = "proc";
  pair.images.mounts[2].type = "tmpfs";
  BOOST_TEST(pair.with_host().empty());
  pair.images.mounts[0].type = "nosuchfs";  // the root: create mounts it
  BOOST_TEST(pair.with_host().empty());
  pair.images.mounts[2].type = pair.images.mounts[3].type = "nosuchfs";
  const Obstacles obstacles = pair.with_host();
  BOOST_REQUIRE(obstacles.size() == 1);
  BOOST_TEST(obstacles[0] ==
             "the images have a file system of type nosuchfs on /tree/deep: this kernel has none, "
             "or has to load a module for it first (modprobe nosuchfs)");
}

BOOST_AUTO_TEST_CASE(process_numbers_are_free_unless_the_container_has_a_pid_namespace) {
  Pair pair;
  pair.images.processes = {{.pid = ::getpid()}, {.pid = 0x7FFFFFFF}};
  check_none(pair.with_host());
  pair.config.namespaces = {};
  check_one(pair.with_host(), fmt::format("the images have process {}, and another process of this "
                                          "host has that number",
                                          ::getpid()));
}

BOOST_AUTO_TEST_CASE(sources_of_binds_exist) {
  Pair pair;
  pair.config.mounts[1].source = pair.scratch / "missing";
  check_one(pair.document_with_host(), "/mounts/1: open the source " + pair.scratch / "missing");
  pair.config.mounts[1].remount = true;
  check_none(pair.document_with_host());
}

BOOST_AUTO_TEST_CASE(the_host_has_the_devices_of_a_container_with_a_user_namespace) {
  Pair pair;
  pair.config.devices[0].path = RootfsPath("/dev/ocirun-no-such-device");
  pair.config.devices[0].major = 4095;
  pair.config.devices[0].minor = 77;
  check_none(pair.document_with_host());  // made by mknod
  pair.create(NamespaceKind::kUser);
  check_one(pair.document_with_host(), "/dev/ocirun-no-such-device: ");
}

BOOST_AUTO_TEST_CASE(namespaces_to_join_exist_and_are_of_their_kind) {
  Pair pair;
  pair.join(NamespaceKind::kUts, "/proc/self/ns/uts");
  check_none(pair.document_with_host());
  pair.join(NamespaceKind::kNetwork, pair.scratch / "missing");
  check_one(pair.document_with_host(), pair.scratch / "missing");
  Pair other;
  other.join(NamespaceKind::kNetwork, "/proc/self/ns/uts");
  check_one(other.document_with_host(), "/proc/self/ns/uts");
}

BOOST_AUTO_TEST_CASE(network_devices_exist) {
  Pair pair;
  pair.config.net_devices = {{.host_name = "lo", .container_name = "lo"}};
  check_none(pair.document_with_host());
  pair.config.net_devices.push_back({.host_name = "ocirun-none", .container_name = "x"});
  check_one(pair.document_with_host(),
            "/linux/netDevices: this host has no network device ocirun-none");
}

BOOST_AUTO_TEST_SUITE_END()
