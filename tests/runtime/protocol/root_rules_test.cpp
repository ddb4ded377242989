#include "runtime/protocol/root_rules.hpp"

#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

using linux::NamespaceKind;

bundle::Config config_with(std::initializer_list<NamespaceKind> kinds) {
  bundle::Config config;
  for (const NamespaceKind kind : kinds) must(config.namespaces.add({.kind = kind, .path = {}}));
  return config;
}

linux::Mount mount_of(const std::string& type, const std::string& destination) {
  linux::Mount mount;
  mount.type = type;
  mount.destination = RootfsPath(destination);
  return mount;
}

bool fits_with(const linux::Mount& mount,
               std::initializer_list<NamespaceKind> kinds = {NamespaceKind::kMount}) {
  bundle::Config config = config_with(kinds);
  config.mounts.push_back(mount);
  return fits_root_namespace(config);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(root_namespace)

BOOST_AUTO_TEST_CASE(the_mount_namespace_is_new_and_there_is_no_user_namespace) {
  BOOST_TEST(fits_root_namespace(config_with({NamespaceKind::kMount, NamespaceKind::kPid})));
  BOOST_TEST(!fits_root_namespace(config_with({NamespaceKind::kPid})));
  BOOST_TEST(!fits_root_namespace(config_with({NamespaceKind::kMount, NamespaceKind::kTime})));
  BOOST_TEST(!fits_root_namespace(config_with({NamespaceKind::kMount, NamespaceKind::kUser})));
  bundle::Config joined;
  must(joined.namespaces.add({.kind = NamespaceKind::kMount, .path = HostPath("/proc/1/ns/mnt")}));
  BOOST_TEST(!fits_root_namespace(joined));
}

BOOST_AUTO_TEST_CASE(no_hook_runs_before_the_change_of_the_root) {
  using hooks::Kind;
  for (const Kind kind : {Kind::kPrestart, Kind::kCreateRuntime, Kind::kCreateContainer,
                          Kind::kStartContainer, Kind::kPoststart, Kind::kPoststop}) {
    bundle::Config config = config_with({NamespaceKind::kMount});
    config.hooks.of(kind).emplace_back();
    const bool comes_later =
        kind == Kind::kStartContainer || kind == Kind::kPoststart || kind == Kind::kPoststop;
    BOOST_TEST(fits_root_namespace(config) == comes_later);
  }
}

BOOST_AUTO_TEST_CASE(a_mount_is_a_bind_or_needs_no_file_of_the_host) {
  for (const char* type : {"proc", "sysfs", "tmpfs", "devpts", "mqueue", "ramfs"})
    BOOST_TEST(fits_with(mount_of(type, "/a")), type);
  for (const char* type : {"overlay", "ext4", "nfs", "fuse", ""})
    BOOST_TEST(!fits_with(mount_of(type, "/a")), type);
  BOOST_TEST(!fits_with(mount_of("cgroup", "/sys/fs/cgroup")));
  BOOST_TEST(fits_with(mount_of("cgroup", "/sys/fs/cgroup"),
                       {NamespaceKind::kMount, NamespaceKind::kCgroup}));
  linux::Mount bind = mount_of("", "/a");
  bind.bind = true;
  BOOST_TEST(fits_with(bind));
  bind.propagation = linux::Propagation::kSlave;
  BOOST_TEST(fits_with(bind));
  bind.propagation = linux::Propagation::kShared;
  BOOST_TEST(!fits_with(bind));
  bind.propagation = linux::Propagation::kUnchanged;
  bind.id_map_kind = linux::IdMapKind::kMount;
  BOOST_TEST(!fits_with(bind));
  linux::Mount remount = mount_of("", "/a");
  remount.remount = true;
  BOOST_TEST(fits_with(remount));
}

BOOST_AUTO_TEST_CASE(a_mount_on_the_root_itself_needs_a_pivot) {  // M-16
  BOOST_TEST(!fits_with(mount_of("tmpfs", "/")));
  BOOST_TEST(!fits_with(mount_of("tmpfs", "//.")));
}

BOOST_AUTO_TEST_SUITE_END()
