#include "linux/namespaces/namespaces.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include <set>

#include "linux/base/syscalls.hpp"
#include "tests/child_test.hpp"
#include "tests/descriptors.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

NamespaceSet joining(NamespaceKind kind, std::string path) {
  NamespaceSet set;
  must(set.add({kind, HostPath(std::move(path))}));
  return set;
}

std::string own(NamespaceKind kind) { return "/proc/self/ns/" + std::string(proc_name(kind)); }

bool is_same_file(int fd, const std::string& path) {
  struct stat left{};
  struct stat right{};
  return ::fstat(fd, &left) == 0 && ::stat(path.c_str(), &right) == 0 &&
         left.st_ino == right.st_ino && left.st_dev == right.st_dev;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(namespaces)

BOOST_AUTO_TEST_CASE(the_eight_kinds_have_the_names_of_config_json_and_of_proc) {  // L-1
  std::set<std::string_view> config;
  std::set<std::string_view> proc;
  std::uint64_t flags = 0;
  for (const NamespaceKind kind : kNamespaceKinds) {
    config.insert(config_name(kind));
    proc.insert(proc_name(kind));
    BOOST_TEST((flags & clone_flag(kind)) == 0u);
    flags |= clone_flag(kind);
    BOOST_TEST(::access(own(kind).c_str(), F_OK) == 0);
  }
  const std::set<std::string_view> expected{"user",    "cgroup", "ipc",  "uts",
                                            "network", "pid",    "time", "mount"};
  BOOST_TEST((config == expected));
  BOOST_TEST(proc.contains("net"));
  BOOST_TEST(proc.contains("mnt"));
  BOOST_TEST(clone_flag(NamespaceKind::kMount) == std::uint64_t{CLONE_NEWNS});
  BOOST_TEST(clone_flag(NamespaceKind::kTime) == 0x80u);
}

BOOST_AUTO_TEST_CASE(a_set_tells_what_is_new_what_is_joined_and_what_is_the_callers) {  // L-2, L-4
  NamespaceSet set;
  must(set.add({NamespaceKind::kMount, {}}));
  must(set.add({NamespaceKind::kPid, {}}));
  must(set.add({NamespaceKind::kNetwork, HostPath("/var/run/netns/a")}));
  BOOST_TEST(set.creates(NamespaceKind::kMount));
  BOOST_TEST(!set.joins(NamespaceKind::kMount));
  BOOST_TEST(set.joins(NamespaceKind::kNetwork));
  BOOST_TEST(!set.creates(NamespaceKind::kNetwork));
  BOOST_TEST(set.contains(NamespaceKind::kNetwork));
  BOOST_TEST(!set.contains(NamespaceKind::kUser));
  BOOST_TEST(!set.creates(NamespaceKind::kUser));
  BOOST_TEST(set.find(NamespaceKind::kIpc) == nullptr);
  BOOST_TEST(set.new_flags() == std::uint64_t{CLONE_NEWNS | CLONE_NEWPID});
}

BOOST_AUTO_TEST_CASE(a_kind_that_is_listed_twice_is_refused_by_its_name) {  // L-5
  NamespaceSet set;
  must(set.add({NamespaceKind::kUts, {}}));
  const std::string text = must_fail(set.add({NamespaceKind::kUts, HostPath("/proc/1/ns/uts")}));
  BOOST_TEST(text.find("uts") != std::string::npos);
  BOOST_TEST(set.entries().size() == 1u);
  BOOST_TEST(set.creates(NamespaceKind::kUts));
}

BOOST_AUTO_TEST_CASE(each_kind_is_pinned_as_the_namespace_that_its_path_names) {  // L-3
  for (const NamespaceKind kind : kNamespaceKinds) {
    const auto pinned = must(pin_namespaces(joining(kind, own(kind))));
    BOOST_REQUIRE(pinned.size() == 1u);
    BOOST_TEST((pinned[0].kind == kind));
    BOOST_TEST(is_same_file(pinned[0].fd.get(), own(kind)));
    BOOST_TEST((::fcntl(pinned[0].fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  }
}

BOOST_AUTO_TEST_CASE(several_are_pinned_in_the_order_in_which_they_are_joined) {
  NamespaceSet set;
  must(set.add({NamespaceKind::kMount, HostPath(own(NamespaceKind::kMount))}));
  must(set.add({NamespaceKind::kPid, {}}));  // a new one has nothing to pin
  must(set.add({NamespaceKind::kNetwork, HostPath(own(NamespaceKind::kNetwork))}));
  must(set.add({NamespaceKind::kUser, HostPath(own(NamespaceKind::kUser))}));
  const auto pinned = must(pin_namespaces(set));
  BOOST_REQUIRE(pinned.size() == 3u);
  BOOST_TEST((pinned[0].kind == NamespaceKind::kUser));
  BOOST_TEST((pinned[1].kind == NamespaceKind::kNetwork));
  BOOST_TEST((pinned[2].kind == NamespaceKind::kMount));
}

BOOST_AUTO_TEST_CASE(a_namespace_of_each_other_kind_is_refused) {  // L-3
  for (const NamespaceKind wanted : kNamespaceKinds)
    for (const NamespaceKind given : kNamespaceKinds) {
      if (wanted == given) continue;
      const std::string text = must_fail(pin_namespaces(joining(wanted, own(given))));
      BOOST_TEST(text.find(config_name(wanted)) != std::string::npos);
      BOOST_TEST(text.find(own(given)) != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(what_is_no_namespace_is_refused_at_once_and_leaves_no_descriptor) {  // L-3
  const Scratch scratch;
  BOOST_REQUIRE(::mkfifo((scratch / "fifo").c_str(), 0600) == 0);
  BOOST_REQUIRE(::symlink("/proc/self/ns/nothing", (scratch / "dangling").c_str()) == 0);
  scratch.file("empty", "");
  const Descriptors before = open_descriptors();
  for (const std::string& path :
       {scratch.path(), scratch / "fifo", scratch / "empty", scratch / "dangling",
        std::string("/dev/null"), std::string("/proc/self/ns"), std::string("/proc/version")}) {
    for (const NamespaceKind kind : kNamespaceKinds) {
      std::string text;
      BOOST_TEST(seconds_of([&] { text = must_fail(pin_namespaces(joining(kind, path))); }) <
                 kHang);
      BOOST_TEST(text.find(path) != std::string::npos);
      BOOST_TEST(text.find(config_name(kind)) != std::string::npos);
    }
  }
  BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_CASE(a_missing_path_is_told_with_its_errno) {
  const auto pinned = pin_namespaces(joining(NamespaceKind::kPid, "/proc/self/ns/no-such"));
  BOOST_REQUIRE(!pinned);
  BOOST_TEST(pinned.error().number() == ENOENT);
}

BOOST_AUTO_TEST_CASE(what_is_no_namespace_of_that_kind_is_an_invalid_argument) {
  for (const char* path : {"/proc/self/ns/uts", "/proc/version"}) {
    const auto pinned = pin_namespaces(joining(NamespaceKind::kPid, path));
    BOOST_REQUIRE(!pinned);
    BOOST_TEST(pinned.error().number() == EINVAL);
  }
}

OCIRUN_CHILD_TEST(a_namespace_that_was_bound_to_a_file_is_accepted, CLONE_NEWNS | CLONE_NEWUTS) {
  const Scratch scratch;
  const std::string file = scratch.file("uts", "");
  must(sys::mount("/proc/self/ns/uts", file.c_str(), nullptr, MS_BIND, nullptr));
  {
    const auto pinned = must(pin_namespaces(joining(NamespaceKind::kUts, file)));
    BOOST_TEST(is_same_file(pinned.at(0).fd.get(), "/proc/self/ns/uts"));
  }
  must(sys::unmount(file.c_str(), 0));
}

// The descriptor stays that namespace, whatever happens to the name afterwards.
BOOST_AUTO_TEST_CASE(the_pin_outlives_the_process_that_made_the_namespace, *needs_root()) {
  int ready[2];
  int go[2];
  BOOST_REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
  BOOST_REQUIRE(::pipe2(go, O_CLOEXEC) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(go[1]);
    const bool made = ::unshare(CLONE_NEWUTS) == 0 && ::sethostname("pinned", 6) == 0;
    char byte = made ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) != 1 || ::read(go[0], &byte, 1) < 0) ::_exit(1);
    ::_exit(0);
  }
  char byte = 0;
  BOOST_REQUIRE(::read(ready[0], &byte, 1) == 1);
  BOOST_TEST(byte == 'y');
  const auto pinned = must(
      pin_namespaces(joining(NamespaceKind::kUts, "/proc/" + std::to_string(pid) + "/ns/uts")));
  for (const int fd : {go[0], go[1], ready[0], ready[1]}) ::close(fd);
  BOOST_TEST(::waitpid(pid, nullptr, 0) == pid);
  BOOST_TEST(run_in_child(0, [&] {
               BOOST_TEST(::setns(pinned.at(0).fd.get(), CLONE_NEWUTS) == 0);
               char name[65] = {};
               BOOST_TEST(::gethostname(name, sizeof name) == 0);
               BOOST_TEST(std::string(name) == "pinned");
             }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
