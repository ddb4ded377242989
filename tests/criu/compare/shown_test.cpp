#include "criu/compare/mount_table.hpp"

#include <sys/sysmacros.h>

#include "tests/linux/mounts/scene.hpp"

// The host of these tests has a tmpfs on /tmp with the directory /tmp/data and a tmpfs on
// /tmp/data/below. The table of the container is a text with the numbers of these file systems.

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;
using linux::Namespace;
using linux::NamespaceKind;
using linux::Recursion;

namespace {

std::string number_of(const char* path) {
  struct stat status{};
  BOOST_TEST_REQUIRE(::stat(path, &status) == 0, path);
  return fmt::format("{}:{}", major(status.st_dev), minor(status.st_dev));
}

struct ShownContainer {
  ShownContainer() {
    must(linux::sys::mount("tmpfs", "/tmp", "tmpfs", 0, nullptr));
    std::filesystem::create_directories("/tmp/data/below");
    std::filesystem::create_directories("/tmp/data/own");
    must(linux::sys::mount("tmpfs", "/tmp/data/below", "tmpfs", 0, nullptr));
    must(linux::sys::mount("none", "/tmp/data/below", nullptr, MS_SHARED, nullptr));
    device = number_of("/tmp");
    device_below = number_of("/tmp/data/below");
    host.emplace(must(HostMounts::read(procfs)));
  }
  void allow(const char* path, Recursion recursion, MountEvents events = MountEvents::kPrivate) {
    const UniqueFd file = must(linux::sys::open(path, O_PATH));
    must(host->allow(procfs, file, recursion, events));
  }
  void add_namespace(NamespaceKind kind) {
    must(config.namespaces.add(Namespace{.kind = kind, .path = std::nullopt}));
  }
  /// The error of a container that mounts `root` of the file system on /opt; "" for none.
  std::string refusal(const std::string& number, const std::string& root, const std::string& type,
                      const std::string& propagation = "") const {
    const auto compared = compare_shown(
        {.config = config, .host = *host, .cgroup = cgroup},
        fmt::format("9001 9000 {} {} /opt rw{} - {} none rw\n", number, root, propagation, type));
    return compared ? "" : compared.error().message();
  }

  bundle::Config config;
  std::string cgroup = "/own";
  std::string device, device_below;
  linux::Procfs procfs = must(linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  std::optional<HostMounts> host;
};

constexpr char kUnknownPath[] = "0:99999";  // a file system that the host has not mounted

}  // namespace

BOOST_AUTO_TEST_SUITE(compare_mounts_shown)

OCIRUN_CHILD_TEST(what_was_given_may_be_shown_in_all_its_parts, CLONE_NEWNS) {
  ShownContainer container;
  container.allow("/tmp/data", Recursion::kTop);
  BOOST_TEST(container.refusal(container.device, "/data", "tmpfs") == "");
  BOOST_TEST(container.refusal(container.device, "/data/own", "tmpfs") == "");
  check_text(container.refusal(container.device, "/", "tmpfs"),
             "/opt shows / of a file system of the host (type tmpfs)");
  check_text(container.refusal(container.device, "/data2", "tmpfs"), "shows /data2");
  check_text(container.refusal(container.device_below, "/", "tmpfs"), "shows /");
}

OCIRUN_CHILD_TEST(a_recursive_bind_gives_what_is_mounted_below, CLONE_NEWNS) {
  ShownContainer container;
  container.allow("/tmp/data", Recursion::kTree);
  BOOST_TEST(container.refusal(container.device_below, "/", "tmpfs") == "");
  BOOST_TEST(container.refusal(container.device, "/", "tmpfs") != "");
}

OCIRUN_CHILD_TEST(a_bind_of_the_host_has_its_path_in_the_file_system, CLONE_NEWNS) {
  ShownContainer container;
  std::filesystem::create_directories("/tmp/bound");
  must(linux::sys::mount("/tmp/data", "/tmp/bound", nullptr, MS_BIND, nullptr));
  container.host.emplace(must(HostMounts::read(container.procfs)));
  container.allow("/tmp/bound/own", Recursion::kTop);
  BOOST_TEST(container.refusal(container.device, "/data/own", "tmpfs") == "");
  BOOST_TEST(container.refusal(container.device, "/data", "tmpfs") != "");
}

OCIRUN_CHILD_TEST(the_file_system_of_a_disk_may_be_shown, CLONE_NEWNS) {
  ShownContainer container;
  struct stat status{};
  BOOST_TEST_REQUIRE(::stat("/tmp", &status) == 0);
  container.host->allow_device(status.st_dev);
  BOOST_TEST(container.refusal(container.device, "/any", "ext4") == "");
  BOOST_TEST(container.refusal(container.device_below, "/", "ext4") != "");
}

OCIRUN_CHILD_TEST(a_new_file_system_is_one_that_containers_make, CLONE_NEWNS) {
  ShownContainer container;
  for (const char* type : {"tmpfs", "devpts", "proc", "sysfs", "mqueue"})
    BOOST_TEST(container.refusal(kUnknownPath, "/", type) == "");
  check_text(container.refusal(kUnknownPath, "/", "overlay"),
             "/opt is a new file system of type overlay");
  container.config.mounts.push_back(mount_of("/opt", "overlay", "overlay", "lowerdir=/a"));
  BOOST_TEST(container.refusal(kUnknownPath, "/", "overlay") == "");
  check_text(container.refusal(kUnknownPath, "/", "ext4"), "of type ext4");
}

OCIRUN_CHILD_TEST(a_bind_of_the_document_is_no_new_file_system, CLONE_NEWNS) {
  ShownContainer container;
  container.config.mounts.push_back(bind_of("/opt", "/tmp/data", "bind"));
  container.config.mounts.back().type = "overlay";
  check_text(container.refusal(kUnknownPath, "/", "overlay"), "is a new file system");
}

OCIRUN_CHILD_TEST(new_file_systems_of_the_kernel_pass_in_a_user_namespace, CLONE_NEWNS) {
  ShownContainer container;
  container.add_namespace(NamespaceKind::kUser);
  for (const char* type : {"tmpfs", "devpts", "proc", "sysfs", "mqueue"})
    BOOST_TEST(container.refusal(kUnknownPath, "/", type) == "", type);
}

OCIRUN_CHILD_TEST(no_document_gives_away_a_file_system_that_the_host_has_mounted, CLONE_NEWNS) {
  ShownContainer container;
  for (const char* type : {"tmpfs", "devtmpfs", "devpts", "ext4"}) {
    container.config.mounts.push_back(mount_of("/opt", type, "none", "nosuid"));
    check_text(container.refusal(container.device, "/", type),
               fmt::format("/opt shows / of a file system of the host (type {})", type));
  }
}

OCIRUN_CHILD_TEST(each_mount_of_the_table_is_compared, CLONE_NEWNS) {
  const ShownContainer container;
  const std::string good = fmt::format("9001 9000 {} / /a rw - tmpfs none rw\n", kUnknownPath);
  const std::string bad =
      fmt::format("9002 9000 {} /a\\040b /c\\012d rw - tmpfs none rw\n", container.device);
  const auto compare = [&](const std::string& table) {
    return compare_shown(
        {.config = container.config, .host = *container.host, .cgroup = container.cgroup}, table);
  };
  BOOST_TEST(compare(good + good).has_value());
  const std::string error = must_fail(compare(good + bad + good));
  check_text(error, "shows /a b of a file system of the host");
  BOOST_TEST(!error.contains('\n'));
}

OCIRUN_CHILD_TEST(in_a_user_namespace_the_kernels_file_systems_come_from_the_document,
                  CLONE_NEWNS) {
  ShownContainer container;
  const std::string procs = number_of("/proc");
  BOOST_TEST(container.refusal(procs, "/", "proc") == "");
  BOOST_TEST(container.refusal(procs, "/", "sysfs") == "");
  container.add_namespace(NamespaceKind::kUser);
  check_text(container.refusal(procs, "/", "proc"), "of a file system of the host (type proc)");
  container.config.mounts.push_back(mount_of("/proc", "proc", "proc", "nosuid"));
  BOOST_TEST(container.refusal(procs, "/", "proc") == "");
  check_text(container.refusal(procs, "/", "sysfs"), "of a file system of the host (type sysfs)");
}

OCIRUN_CHILD_TEST(cgroups_above_the_containers_are_shown_where_it_can_mount_all_of_them,
                  CLONE_NEWNS) {
  ShownContainer container;
  BOOST_TEST(container.refusal(kUnknownPath, "/", "cgroup2") == "");
  container.add_namespace(NamespaceKind::kCgroup);
  check_text(container.refusal(kUnknownPath, "/", "cgroup2"), "/opt shows cgroups above");
  check_text(container.refusal(kUnknownPath, "/owner", "cgroup"), "/opt shows cgroups above");
  BOOST_TEST(container.refusal(kUnknownPath, "/own/child", "cgroup") == "");
  BOOST_TEST(container.refusal(kUnknownPath, "/own", "cgroup2") == "");
}

OCIRUN_CHILD_TEST(a_user_namespace_hides_the_cgroups_above_as_well, CLONE_NEWNS) {
  ShownContainer container;
  container.add_namespace(NamespaceKind::kUser);
  for (const char* type : {"cgroup", "cgroup2"}) {
    check_text(container.refusal(kUnknownPath, "/", type), "/opt shows cgroups above");
    check_text(container.refusal(kUnknownPath, "/owner", type), "/opt shows cgroups above");
    BOOST_TEST(container.refusal(kUnknownPath, "/own", type) == "");
  }
}

OCIRUN_CHILD_TEST(cgroups_that_the_document_binds_may_be_any, CLONE_NEWNS) {
  ShownContainer container;
  container.add_namespace(NamespaceKind::kCgroup);
  container.allow("/tmp/data", Recursion::kTop);  // stands for a hierarchy
  BOOST_TEST(container.refusal(container.device, "/data", "cgroup2") == "");
  check_text(container.refusal(container.device, "/", "cgroup2"), "/opt shows cgroups above");
}

OCIRUN_CHILD_TEST(mounts_of_the_host_reach_what_the_document_lets_them_reach, CLONE_NEWNS) {
  ShownContainer container;
  container.allow("/tmp/data", Recursion::kTree);
  std::string group = mount_at("/tmp/data/below").propagation;
  group = group.substr(group.find(':'));
  while (group.ends_with(' ')) group.pop_back();
  const auto refusal = [&](const std::string& propagation) {
    return container.refusal(container.device_below, "/", "tmpfs", propagation);
  };
  check_text(refusal(" master" + group), "mounts of the host reach /opt");
  check_text(refusal(" shared" + group), "mounts of the host reach /opt");
  BOOST_TEST(refusal(" shared:999999") == "");
  container.allow("/tmp/data", Recursion::kTree, MountEvents::kFromHost);
  BOOST_TEST(refusal(" shared:999999 master" + group) == "");
}

BOOST_AUTO_TEST_SUITE_END()
