#include "linux/mounts/cgroup_mount.hpp"

#include "tests/linux/mounts/scene.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;
namespace fs = std::filesystem;

namespace {

/// The host's hierarchies, each with its top as the container's "own" cgroup.
std::vector<CgroupHierarchy> host_hierarchies() {
  std::vector<CgroupHierarchy> found;
  for (const MountLine& line : mount_table()) {
    if (line.type != "cgroup" && line.type != "cgroup2") continue;
    CgroupHierarchy hierarchy;
    hierarchy.own_directory = HostPath(line.path);
    hierarchy.unified = line.type == "cgroup2";
    hierarchy.name = fs::path(line.path).filename();
    if (!hierarchy.unified) {
      hierarchy.options = line.superblock.substr(line.superblock.find(',') + 1);
      if (hierarchy.options.starts_with("name=")) hierarchy.options = "none," + hierarchy.options;
    }
    found.push_back(hierarchy);
  }
  return found;
}

bool is_v1_host(const std::vector<CgroupHierarchy>& hierarchies) {
  if (hierarchies.size() > 1) return true;
  BOOST_TEST_MESSAGE("skipped: this host has no cgroup v1");
  return false;
}

bool can_make_directory(const std::string& path) {
  std::error_code failure;
  const bool made = fs::create_directory(path, failure);
  if (made) fs::remove(path);
  return made;
}

constexpr const char* kTarget = "/tmp/rootfs/sys/fs/cgroup";
const Mount kReadOnly =
    mount_of("/sys/fs/cgroup", "cgroup", "cgroup", "nosuid,noexec,nodev,relatime,ro");

}  // namespace

BOOST_AUTO_TEST_SUITE(cgroup_mount)

OCIRUN_CHILD_TEST(every_v1_hierarchy_is_mounted_read_only, CLONE_NEWNS | CLONE_NEWCGROUP) {  // M-12
  const auto hierarchies = host_hierarchies();
  if (!is_v1_host(hierarchies)) return;
  Scene scene;
  MountContext context = scene.context();
  context.cgroups = hierarchies;
  context.own_cgroup_namespace = true;
  must(make_mount(context, kReadOnly, UniqueFd()));
  BOOST_TEST(mount_at(kTarget).has("ro"));
  BOOST_TEST(mount_at(kTarget).type == "tmpfs");
  for (const CgroupHierarchy& hierarchy : hierarchies) {
    const std::string path = kTarget + ("/" + hierarchy.name);
    const MountLine line = mount_at(path);
    BOOST_TEST(line.type == (hierarchy.unified ? "cgroup2" : "cgroup"));
    BOOST_TEST((line.has("ro") && line.has("nosuid") && line.has("noexec") && line.has("nodev")));
    BOOST_TEST(line.root == "/");  // of the cgroup namespace
    BOOST_TEST(!can_make_directory(path + "/ocirun-test"));
  }
  BOOST_TEST(!can_make_directory(std::string(kTarget) + "/ocirun-test"));
}

OCIRUN_CHILD_TEST(without_a_cgroup_namespace_the_own_directories_are_bound, CLONE_NEWNS) {  // M-12
  auto hierarchies = host_hierarchies();
  if (!is_v1_host(hierarchies)) return;
  std::erase_if(hierarchies,
                [](const CgroupHierarchy& one) { return one.name.starts_with("cpu"); });
  hierarchies.push_back(hierarchies.front());
  hierarchies.back().name = "cpu,cpuacct";
  Scene scene;
  fs::create_directories("/tmp/host/own");
  hierarchies.back().own_directory = HostPath("/tmp/host/own");
  Scene::write("/tmp/host/own/marker", "");
  MountContext context = scene.context();
  context.cgroups = hierarchies;
  must(make_mount(context, kReadOnly, UniqueFd()));
  for (const char* name : {"cpu,cpuacct", "cpu", "cpuacct"})
    BOOST_TEST(fs::exists(fs::path(kTarget) / name / "marker"), name);
  BOOST_TEST(fs::read_symlink(fs::path(kTarget) / "cpuacct") == "cpu,cpuacct");
  BOOST_TEST(mount_at(std::string(kTarget) + "/cpu,cpuacct").has("ro"));
}

OCIRUN_CHILD_TEST(a_pure_v2_host_gives_cgroup2, CLONE_NEWNS | CLONE_NEWCGROUP) {  // M-12
  auto hierarchies = host_hierarchies();
  std::erase_if(hierarchies, [](const CgroupHierarchy& one) { return !one.unified; });
  if (hierarchies.empty()) {
    BOOST_TEST_MESSAGE("skipped: no cgroup2");
    return;
  }
  Scene scene;
  MountContext context = scene.context();
  context.cgroups = hierarchies;
  context.own_cgroup_namespace = true;
  must(make_mount(context, kReadOnly, UniqueFd()));
  const MountLine line = mount_at(kTarget);
  BOOST_TEST((line.type == "cgroup2" && line.has("ro") && line.has("noexec")));
  BOOST_TEST(!can_make_directory(std::string(kTarget) + "/ocirun-test"));
}

OCIRUN_CHILD_TEST(a_refused_cgroup2_becomes_a_bind_of_the_own_directory,
                  CLONE_NEWNS | CLONE_NEWUSER) {
  Scene scene;  // the cgroup namespace belongs to another user namespace: EPERM
  fs::create_directories("/tmp/host/own/cgroup.procs");
  const std::vector<CgroupHierarchy> hierarchies = {
      {.name = "", .options = "", .unified = true, .own_directory = HostPath("/tmp/host/own")}};
  MountContext context = scene.context();
  context.cgroups = hierarchies;
  context.own_cgroup_namespace = true;
  must(make_mount(context, kReadOnly, UniqueFd()));
  BOOST_TEST(fs::exists(std::string(kTarget) + "/cgroup.procs"));
  BOOST_TEST(mount_at(kTarget).has("ro"));
}

OCIRUN_CHILD_TEST(a_host_without_cgroups_shows_an_empty_read_only_directory, CLONE_NEWNS) {
  Scene scene;
  must(make_mount(scene.context(), kReadOnly, UniqueFd()));
  BOOST_TEST(fs::is_empty(kTarget));
  BOOST_TEST(mount_at(kTarget).has("ro"));
}

OCIRUN_CHILD_TEST(filesystem_options_of_a_cgroup_mount_are_refused, CLONE_NEWNS) {
  const auto hierarchies = host_hierarchies();
  Scene scene;
  MountContext context = scene.context();
  context.cgroups = hierarchies;
  Mount mount = kReadOnly;
  mount.data = {"memory_localevents"};
  check_text(must_fail(make_mount(context, mount, UniqueFd())), "takes no filesystem options");
}

BOOST_AUTO_TEST_SUITE_END()
