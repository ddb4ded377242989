#include "criu/compare/host_mounts.hpp"

#include <sys/sysmacros.h>

#include "tests/linux/mounts/scene.hpp"

// The host of these tests has a tmpfs on /tmp, a shared one on /tmp/data/below, and a third on
// /tmp/database. /other/part of the first is bound on /tmp/data/bound. What the container has
// mounted is a line of text.

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;
namespace fs = std::filesystem;
using linux::Recursion;

namespace {

constexpr char kUnknown[] = "0:99999";  // a file system that the host has not mounted
constexpr char kUnknownGroup[] = "999999";

void mount_tmpfs(const char* path) { must(linux::sys::mount("tmpfs", path, "tmpfs", 0, nullptr)); }
void make(const char* path, unsigned long propagation) {
  must(linux::sys::mount("none", path, nullptr, propagation, nullptr));
}
void bind(const char* source, const char* target) {
  must(linux::sys::mount(source, target, nullptr, MS_BIND, nullptr));
}

std::string device_at(const char* path) {
  struct stat status{};
  BOOST_TEST_REQUIRE(::stat(path, &status) == 0, path);
  return fmt::format("{}:{}", major(status.st_dev), minor(status.st_dev));
}

/// "12" of the word "shared:12" or "master:12" of the mount at `path`.
std::string group_at(const std::string& path) {
  std::string group;
  std::istringstream(mount_at(path).propagation) >> group;
  return group.substr(group.find(':') + 1);
}

struct Host {
  Host() {
    mount_tmpfs("/tmp");
    for (const char* path : {"/tmp/data/below", "/tmp/data/bound", "/tmp/data/own", "/tmp/database",
                             "/tmp/other/part/own"})
      fs::create_directories(path);
    mount_tmpfs("/tmp/data/below");
    mount_tmpfs("/tmp/database");
    make("/tmp/data/below", MS_SHARED);
    bind("/tmp/other/part", "/tmp/data/bound");
    device = device_at("/tmp");
    below = device_at("/tmp/data/below");
    read();
  }
  void read() { mounts.emplace(must(HostMounts::read(procfs))); }
  void allow(const char* path, Recursion recursion, MountEvents events = MountEvents::kPrivate) {
    const UniqueFd file = must(linux::sys::open(path, O_PATH));
    must(mounts->allow(procfs, file, recursion, events));
  }

  template <typename Ask>
  bool ask(const std::string& number, const std::string& root, const std::string& propagation,
           Ask question) const {
    const std::string line =
        fmt::format("9001 9000 {} {} /opt rw {} - tmpfs none rw\n", number, root, propagation);
    std::string_view rest = line;
    const auto entry = linux::next_mount(rest);
    BOOST_TEST_REQUIRE(entry.has_value());
    return question(*entry);
  }
  bool has(const std::string& number) const {
    return ask(number, "/", "", [&](const auto& entry) { return mounts->has(entry); });
  }
  bool allows(const std::string& number, const std::string& root) const {
    return ask(number, root, "", [&](const auto& entry) { return mounts->allows(entry); });
  }
  bool hears_too_much(const std::string& propagation, const std::string& root = "/") const {
    return ask(below, root, propagation,
               [&](const auto& entry) { return mounts->hears_too_much(entry); });
  }

  std::string device, below;
  linux::Procfs procfs = must(linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  std::optional<HostMounts> mounts;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(host_mounts)

OCIRUN_CHILD_TEST(a_file_system_is_the_hosts_if_its_number_is_in_the_table, CLONE_NEWNS) {
  const Host host;
  BOOST_TEST(host.has(host.device));
  BOOST_TEST(host.has(host.below));
  BOOST_TEST(host.has(device_at("/proc")));
  BOOST_TEST(!host.has(kUnknown));
  BOOST_TEST(!host.has(host.device + "9999"));
}

OCIRUN_CHILD_TEST(nothing_is_allowed_before_it_is_named, CLONE_NEWNS) {
  const Host host;
  BOOST_TEST(!host.allows(host.device, "/"));
  BOOST_TEST(!host.allows(host.below, "/"));
  BOOST_TEST(!host.allows(kUnknown, "/"));
}

OCIRUN_CHILD_TEST(a_directory_allows_itself_and_what_is_below_it, CLONE_NEWNS) {
  Host host;
  host.allow("/tmp/data", Recursion::kTop);
  BOOST_TEST(host.allows(host.device, "/data"));
  BOOST_TEST(host.allows(host.device, "/data/own"));
  BOOST_TEST(!host.allows(host.device, "/"));
  BOOST_TEST(!host.allows(host.device, "/other"));
  BOOST_TEST(!host.allows(host.device, "/database"));
  BOOST_TEST(!host.allows(host.below, "/data"));
  BOOST_TEST(!host.allows(kUnknown, "/data"));
}

OCIRUN_CHILD_TEST(each_call_adds_a_directory, CLONE_NEWNS) {
  Host host;
  host.allow("/tmp/data/own", Recursion::kTop);
  host.allow("/tmp/other", Recursion::kTop);
  BOOST_TEST(host.allows(host.device, "/data/own"));
  BOOST_TEST(host.allows(host.device, "/other"));
  BOOST_TEST(!host.allows(host.device, "/data"));
}

OCIRUN_CHILD_TEST(a_mount_point_allows_the_file_system_that_is_seen_there, CLONE_NEWNS) {
  Host host;
  host.allow("/tmp/data/below", Recursion::kTop);
  BOOST_TEST(host.allows(host.below, "/"));
  BOOST_TEST(host.allows(host.below, "/any"));
  BOOST_TEST(!host.allows(host.device, "/data/below"));
}

OCIRUN_CHILD_TEST(a_mount_that_another_one_hides_is_not_allowed, CLONE_NEWNS) {
  Host host;
  const std::string hidden = device_at("/tmp/database");
  mount_tmpfs("/tmp/database");
  host.read();
  host.allow("/tmp/database", Recursion::kTop);
  BOOST_TEST(host.allows(device_at("/tmp/database"), "/"));
  BOOST_TEST(!host.allows(hidden, "/"));
}

OCIRUN_CHILD_TEST(a_tree_allows_the_mounts_below_with_what_they_show, CLONE_NEWNS) {
  Host host;
  host.allow("/tmp/data", Recursion::kTree);
  BOOST_TEST(host.allows(host.device, "/data/own"));
  BOOST_TEST(host.allows(host.below, "/"));
  BOOST_TEST(host.allows(host.device, "/other/part"));
  BOOST_TEST(host.allows(host.device, "/other/part/own"));
  BOOST_TEST(!host.allows(host.device, "/other"));
  BOOST_TEST(!host.allows(host.device, "/"));
  BOOST_TEST(!host.allows(device_at("/tmp/database"), "/"));
}

OCIRUN_CHILD_TEST(without_the_mounts_below_only_the_directory_is_allowed, CLONE_NEWNS) {
  Host host;
  host.allow("/tmp/data", Recursion::kTop);
  BOOST_TEST(!host.allows(host.below, "/"));
  BOOST_TEST(!host.allows(host.device, "/other/part"));
}

OCIRUN_CHILD_TEST(a_file_behind_a_bind_has_its_path_in_the_file_system, CLONE_NEWNS) {
  Host host;
  Scene::write("/tmp/other/part/file", "x");
  host.allow("/tmp/data/bound/own", Recursion::kTop);
  BOOST_TEST(host.allows(host.device, "/other/part/own"));
  BOOST_TEST(!host.allows(host.device, "/other/part"));
  BOOST_TEST(!host.allows(host.device, "/data/bound/own"));
  BOOST_TEST(!host.allows(host.device, "/own"));
  host.allow("/tmp/data/bound/file", Recursion::kTop);
  BOOST_TEST(host.allows(host.device, "/other/part/file"));
  host.allow("/tmp/data/bound", Recursion::kTop);
  BOOST_TEST(host.allows(host.device, "/other/part"));
}

OCIRUN_CHILD_TEST(a_directory_of_the_root_file_system_has_its_own_path, CLONE_NEWNS) {
  Host host;
  const std::string top = device_at("/tmp/database");
  fs::create_directories("/tmp/database/proc");
  fs::create_directories("/tmp/database/srv");
  bind("/proc", "/tmp/database/proc");
  BOOST_TEST_REQUIRE(::chroot("/tmp/database") == 0);
  host.read();
  host.allow("/srv", Recursion::kTop);
  BOOST_TEST(host.allows(top, "/srv"));
  BOOST_TEST(!host.allows(top, "/"));
  host.allow("/", Recursion::kTop);
  BOOST_TEST(host.allows(top, "/"));
}

OCIRUN_CHILD_TEST(names_with_blanks_are_those_of_the_files, CLONE_NEWNS) {
  Host host;
  fs::create_directories("/tmp/a b/in it");
  fs::create_directories("/tmp/c d");
  bind("/tmp/a b", "/tmp/c d");
  host.read();
  host.allow("/tmp/c d/in it", Recursion::kTop);
  BOOST_TEST(host.allows(host.device, "/a\\040b/in\\040it"));
  BOOST_TEST(!host.allows(host.device, "/a\\040b"));
  fs::create_directories("/tmp/database/c d");
  bind("/tmp/a b", "/tmp/database/c d");
  host.read();
  host.allow("/tmp/database", Recursion::kTree);
  BOOST_TEST(host.allows(host.device, "/a\\040b"));
}

OCIRUN_CHILD_TEST(a_device_allows_the_whole_file_system_on_it_and_no_events, CLONE_NEWNS) {
  Host host;
  host.mounts->allow_device(makedev(4095, 1));
  BOOST_TEST(host.allows("4095:1", "/"));
  BOOST_TEST(host.allows("4095:1", "/any"));
  BOOST_TEST(!host.allows("4095:2", "/"));
  BOOST_TEST(!host.allows("4095:11", "/"));
  struct stat status{};
  BOOST_TEST_REQUIRE(::stat("/tmp/data/below", &status) == 0);
  host.mounts->allow_device(status.st_dev);
  BOOST_TEST(host.allows(host.below, "/"));
  BOOST_TEST(host.hears_too_much("shared:" + group_at("/tmp/data/below")));
}

OCIRUN_CHILD_TEST(a_peer_or_a_slave_of_the_host_hears_of_its_mounts, CLONE_NEWNS) {
  Host host;
  const std::string group = group_at("/tmp/data/below");
  host.allow("/tmp/data", Recursion::kTree);
  BOOST_TEST(host.hears_too_much("shared:" + group));
  BOOST_TEST(host.hears_too_much("master:" + group));
  BOOST_TEST(host.hears_too_much(fmt::format("shared:{} master:{}", kUnknownGroup, group)));
  BOOST_TEST(host.hears_too_much(fmt::format("shared:{} master:{}", group, kUnknownGroup)));
}

OCIRUN_CHILD_TEST(a_group_of_the_container_alone_hears_nothing_of_the_host, CLONE_NEWNS) {
  Host host;
  BOOST_TEST(!host.hears_too_much(""));
  make("/tmp/database", MS_UNBINDABLE);
  host.read();
  BOOST_TEST(!host.hears_too_much("unbindable"));
  BOOST_TEST(!host.hears_too_much(fmt::format("shared:{}", kUnknownGroup)));
  const std::string group = group_at("/tmp/data/below");
  BOOST_TEST(!host.hears_too_much("shared:" + group + "0"));
  BOOST_TEST(
      !host.hears_too_much(fmt::format("master:{} propagate_from:{}", kUnknownGroup, group)));
}

OCIRUN_CHILD_TEST(a_group_is_the_hosts_by_its_whole_number, CLONE_NEWNS) {
  Host host;
  std::vector<std::string> others;  // with the numbers of one digit
  std::string path = "/tmp/data/below";
  while (group_at(path).size() < 2) {
    others.push_back(path);
    path = fmt::format("/tmp/other/{}", others.size());
    fs::create_directory(path);
    mount_tmpfs(path.c_str());
    make(path.c_str(), MS_SHARED);
  }
  for (const std::string& other : others) make(other.c_str(), MS_PRIVATE);
  host.read();
  const std::string group = group_at(path);
  BOOST_TEST(host.hears_too_much("shared:" + group));
  BOOST_TEST(!host.hears_too_much("shared:" + group.substr(0, group.size() - 1)));
}

OCIRUN_CHILD_TEST(a_slave_of_the_hosts_master_hears_of_mounts_too, CLONE_NEWNS) {
  Host host;
  const UniqueFd masters = must(linux::sys::open("/proc/self/ns/mnt", O_RDONLY));
  BOOST_TEST_REQUIRE(::unshare(CLONE_NEWNS) == 0);
  make("/tmp/data/below", MS_SLAVE);
  host.read();
  const std::string group = group_at("/tmp/data/below");
  BOOST_TEST_REQUIRE(mount_at("/tmp/data/below").propagation.starts_with("master:"));
  BOOST_TEST(host.hears_too_much("master:" + group));
}

OCIRUN_CHILD_TEST(events_are_allowed_for_the_tree_that_was_named_with_them, CLONE_NEWNS) {
  Host host;
  const std::string shared = "shared:" + group_at("/tmp/data/below");
  host.allow("/tmp/other", Recursion::kTree, MountEvents::kFromHost);
  BOOST_TEST(host.allows(host.device, "/other"));
  host.allow("/tmp/data/below", Recursion::kTop, MountEvents::kPrivate);
  BOOST_TEST(host.hears_too_much(shared));
  fs::create_directories("/tmp/data/below/part");
  host.allow("/tmp/data/below/part", Recursion::kTop, MountEvents::kFromHost);
  BOOST_TEST(host.hears_too_much(shared));
  BOOST_TEST(!host.hears_too_much(shared, "/part"));
  host.allow("/tmp/data", Recursion::kTree, MountEvents::kFromHost);
  BOOST_TEST(!host.hears_too_much(shared));
  BOOST_TEST(host.allows(host.below, "/"));
}

BOOST_AUTO_TEST_SUITE_END()
