#include "cgroups/hierarchies/layout.hpp"

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "linux/base/syscalls.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;
using namespace ocirun::test;

namespace {

Layout parsed(std::string_view mountinfo, std::string_view own) {
  Result<Layout> layout = parse_layout(mountinfo, own);
  BOOST_REQUIRE_MESSAGE(layout, (layout ? "" : layout.error().message()));
  return *layout;
}

const Hierarchy& find(const Layout& layout, const std::string& controller) {
  for (const Hierarchy& hierarchy : layout.hierarchies)
    if (controller.empty()
            ? hierarchy.unified
            : std::ranges::find(hierarchy.controllers, controller) != hierarchy.controllers.end())
      return hierarchy;
  BOOST_FAIL("no hierarchy with " + controller);
  return layout.hierarchies.front();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(layout)

BOOST_AUTO_TEST_CASE(a_pure_v2_host) {
  const Layout layout = parsed(
      "22 28 0:21 / /proc rw,nosuid - proc proc rw\n"
      "25 23 0:22 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 "
      "rw,nsdelegate,memory_recursiveprot\n",
      "0::/user.slice/user-0.slice/session-1.scope\n");
  BOOST_REQUIRE(layout.hierarchies.size() == 1u);
  BOOST_TEST(layout.pure_v2());
  const Hierarchy& unified = layout.hierarchies[0];
  BOOST_TEST(unified.unified);
  BOOST_TEST(unified.controllers.empty());
  BOOST_TEST(unified.mount_point.string() == "/sys/fs/cgroup");
  BOOST_TEST(unified.own_path == "/user.slice/user-0.slice/session-1.scope");
}

BOOST_AUTO_TEST_CASE(a_hybrid_host_with_controllers_mounted_together) {
  const Layout layout = parsed(
      "31 23 0:28 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n"
      "32 31 0:29 / /sys/fs/cgroup/unified rw shared:10 - cgroup2 cgroup2 rw,nsdelegate\n"
      "33 31 0:30 / /sys/fs/cgroup/systemd rw shared:11 - cgroup cgroup rw,xattr,name=systemd\n"
      "34 31 0:31 / /sys/fs/cgroup/cpu,cpuacct rw shared:12 - cgroup cgroup rw,cpu,cpuacct\n"
      "35 31 0:32 / /sys/fs/cgroup/net_cls,net_prio rw - cgroup cgroup rw,net_cls,net_prio\n"
      "36 31 0:33 / /sys/fs/cgroup/memory rw shared:13 - cgroup cgroup rw,memory\n",
      "12:cpu,cpuacct:/\n11:net_cls,net_prio:/\n9:memory:/user.slice\n5:pids:/\n"
      "1:name=systemd:/init.scope\n0::/init.scope\n");
  BOOST_TEST(layout.hierarchies.size() == 5u);  // pids is mounted nowhere
  BOOST_TEST(!layout.pure_v2());
  BOOST_TEST(&find(layout, "cpu") == &find(layout, "cpuacct"));
  BOOST_TEST(find(layout, "cpu").controllers.size() == 2u);  // "rw" is none
  BOOST_TEST(find(layout, "cpu").mount_point.string() == "/sys/fs/cgroup/cpu,cpuacct");
  BOOST_TEST(find(layout, "name=systemd").controllers.size() == 1u);  // nor "xattr"
  BOOST_TEST(find(layout, "memory").own_path == "/user.slice");
  BOOST_TEST(find(layout, "").mount_point.string() == "/sys/fs/cgroup/unified");
}

BOOST_AUTO_TEST_CASE(stray_directories_are_not_hierarchies)  // trust mountinfo
{
  const Layout layout = parsed(
      "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
      "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
      "4:memory:/process_api/a9\n0::/\n");
  BOOST_TEST(layout.hierarchies.size() == 2u);
  BOOST_TEST(find(layout, "memory").own_path == "/process_api/a9");
}

BOOST_AUTO_TEST_CASE(a_mount_that_shows_only_a_part) {
  const Layout in_container =
      parsed("900 890 0:33 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
             "4:memory:/docker/abc\n");
  BOOST_TEST(in_container.hierarchies[0].root == "/docker/abc");

  const Layout in_namespace = parsed(
      "900 890 0:33 /../.. /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "4:memory:/\n");
  BOOST_TEST(in_namespace.hierarchies[0].root == "/../..");
}

BOOST_AUTO_TEST_CASE(of_several_mounts_the_one_that_shows_most_is_taken) {
  const Layout layout = parsed(
      "900 890 0:33 /a/b /mnt/part rw - cgroup cgroup rw,memory\n"
      "901 890 0:33 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "902 890 0:33 /other /mnt/other rw - cgroup cgroup rw,memory\n",
      "4:memory:/a/b/c\n");
  BOOST_TEST(layout.hierarchies.size() == 1u);
  BOOST_TEST(layout.hierarchies[0].mount_point.string() == "/sys/fs/cgroup/memory");

  const Layout only_parts = parsed(
      "902 890 0:33 /x /mnt/other rw - cgroup cgroup rw,memory\n"
      "900 890 0:33 /a/b /mnt/part rw - cgroup cgroup rw,memory\n",
      "4:memory:/a/b/c\n");
  BOOST_TEST(only_parts.hierarchies[0].mount_point.string() == "/mnt/part");
}

BOOST_AUTO_TEST_CASE(a_covered_mount_is_passed_over) {
  const Layout layout = parsed(
      "25 23 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
      "30 23 0:40 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
      "31 30 0:22 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
      "0::/\n");
  BOOST_TEST(layout.hierarchies.size() == 1u);
  BOOST_TEST(layout.hierarchies[0].mount_point.string() == "/sys/fs/cgroup/unified");
}

BOOST_AUTO_TEST_CASE(escaped_names_are_read) {
  const Layout layout =
      parsed("25 23 0:22 / /mnt/a\\040b\\134c rw - cgroup2 cgroup2 rw\n", "0::/\n");
  BOOST_TEST(layout.hierarchies[0].mount_point.string() == "/mnt/a b\\c");
}

BOOST_AUTO_TEST_CASE(a_host_without_cgroups_is_told_what_to_do) {
  const auto layout = parse_layout("22 28 0:21 / /proc rw - proc proc rw\n", "0::/\n");
  BOOST_REQUIRE(!layout);
  BOOST_TEST(layout.error().message().contains("--cgroup-manager=disabled"));
  BOOST_TEST(!parse_layout("", ""));
  BOOST_TEST(!parse_layout("garbage", "garbage"));
}

// This host may have hierarchies of v1 too; usual_layout() learns of them from its argument alone.
OCIRUN_CHILD_TEST(the_usual_layout_needs_no_mount_table, CLONE_NEWNS) {
  const auto procfs = must(linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  must(linux::sys::mount("tmpfs", "/sys/fs/cgroup", "tmpfs", 0, nullptr));
  BOOST_TEST(!usual_layout(procfs, "0::/a\n"));
  must(linux::sys::mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, nullptr));
  const auto layout = usual_layout(procfs, "0::/a/b c\n");
  BOOST_REQUIRE(layout);
  BOOST_TEST(layout->pure_v2());
  BOOST_REQUIRE(layout->hierarchies.size() == 1u);
  const Hierarchy& unified = layout->hierarchies.front();
  BOOST_TEST(unified.mount_point.string() == "/sys/fs/cgroup");
  BOOST_TEST(unified.root == "/");
  BOOST_TEST(unified.own_path == "/a/b c");
  BOOST_TEST(unified.controllers.empty());
  for (const char* text : {"", "0::/", "9:name=systemd:/\n0::/\n", "0::/\n9:name=systemd:/\n"})
    BOOST_TEST(!usual_layout(procfs, text));
  // In a cgroup namespace the same mount shows more than the namespace.
  BOOST_REQUIRE(::unshare(CLONE_NEWCGROUP) == 0);
  BOOST_TEST(!usual_layout(procfs, "0::/\n"));
}

OCIRUN_CHILD_TEST(a_part_of_the_hierarchy_is_not_the_usual_layout, CLONE_NEWNS) {
  const auto procfs = must(linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  must(linux::sys::mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, nullptr));
  const std::string below = fmt::format("/sys/fs/cgroup/ocirun-layout-{}", ::getpid());
  BOOST_REQUIRE(::mkdir(below.c_str(), 0755) == 0);
  BOOST_TEST(usual_layout(procfs, "0::/\n").has_value());
  must(linux::sys::mount(below.c_str(), "/sys/fs/cgroup", nullptr, MS_BIND, nullptr));
  BOOST_TEST(!usual_layout(procfs, "0::/\n"));
  must(linux::sys::unmount("/sys/fs/cgroup", linux::sys::kDetach));
  BOOST_TEST(::rmdir(below.c_str()) == 0);
}

BOOST_AUTO_TEST_CASE(this_host_is_read) {
  const Result<linux::Procfs> procfs = linux::Procfs::open(linux::Procfs::Subset::kProcesses);
  BOOST_REQUIRE_MESSAGE(procfs, (procfs ? "" : procfs.error().message()));
  const Result<Layout> layout = read_layout(*procfs);
  BOOST_REQUIRE_MESSAGE(layout, (layout ? "" : layout.error().message()));
  BOOST_TEST(!layout->hierarchies.empty());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(placement)

namespace {
std::string placed(const std::optional<std::string>& path) {
  const Result<Placement> placement = place(path, "web1");
  return placement ? placement->path : "error: " + placement.error().message();
}
}  // namespace

BOOST_AUTO_TEST_CASE(an_absolute_path_is_taken_as_it_is)
{
  BOOST_TEST(placed("/docker/abc") == "/docker/abc");
  BOOST_TEST(placed("//docker/./abc/") == "/docker/abc");
  BOOST_TEST(placed("/kubepods/burstable/pod..1/...") == "/kubepods/burstable/pod..1/...");
}

BOOST_AUTO_TEST_CASE(a_relative_path_is_below_our_own_parent)
{
  BOOST_TEST(placed("a/b") == "/ocirun/a/b");
  BOOST_TEST(placed("./a") == "/ocirun/a");
}

BOOST_AUTO_TEST_CASE(without_a_path_the_id_names_it)
{
  BOOST_TEST(placed(std::nullopt) == "/ocirun/web1");
  BOOST_TEST(placed("") == "/ocirun/web1");
}

BOOST_AUTO_TEST_CASE(a_path_that_leads_upwards_is_refused)
{
  for (const char* path : {"..", "/..", "../x", "/a/../../x", "a/..", "/a/.."}) {
    BOOST_TEST(placed(path).starts_with("error: /linux/cgroupsPath"), path);
    BOOST_TEST(placed(path).contains("\"..\" is not allowed"), path);
  }
  BOOST_TEST(!place(std::nullopt, ".."));
}

BOOST_AUTO_TEST_CASE(a_path_is_normal_if_normal_path_returns_it_itself) {
  const std::string longest(255, 'x');
  for (const std::string& text : std::vector<std::string>{"",
                                                          "/",
                                                          "a",
                                                          "/a",
                                                          "/a/b",
                                                          "/a/b.scope",
                                                          "/a//b",
                                                          "//a",
                                                          "/a/",
                                                          "/./a",
                                                          "/a/.",
                                                          "/a/..",
                                                          "/../a",
                                                          "/..a",
                                                          "/a..",
                                                          "/...",
                                                          "/a\nb",
                                                          "/a\x7f",
                                                          "/" + longest,
                                                          "/a/" + longest + "x",
                                                          "/" + longest + "/b"}) {
    const auto normal = normal_path(text, "");
    BOOST_TEST(is_normal_path(text) == (normal && *normal == text && text != "/"), text);
  }
}

BOOST_AUTO_TEST_CASE(the_root_cgroup_and_odd_names_are_refused) {
  BOOST_TEST(placed("/").contains("the root cgroup"));
  BOOST_TEST(placed("/./").contains("the root cgroup"));
  BOOST_TEST(placed(".").contains("the root cgroup"));
  BOOST_TEST(placed("/a\nb").contains("control characters"));
  BOOST_TEST(placed(std::string("/a\0b", 4)).contains("control characters"));
  BOOST_TEST(placed("/" + std::string(256, 'x')).contains("255 bytes"));
  BOOST_TEST(placed("/" + std::string(255, 'x')).starts_with("/x"));
}

BOOST_AUTO_TEST_SUITE_END()

// Which cgroups an ordinary user may make others in.

BOOST_AUTO_TEST_SUITE(delegation)

BOOST_AUTO_TEST_CASE(the_callers_cgroup_is_relative_to_the_mounted_root) {
  const auto shown = [](std::string root, std::string own) {
    return shown_path({.mount_point = HostPath("/sys/fs/cgroup"),
                       .root = std::move(root),
                       .controllers = {},
                       .unified = true,
                       .own_path = std::move(own)});
  };
  BOOST_TEST(shown("/", "/a/b") == "/a/b");
  BOOST_TEST(shown("/", "/") == "");
  BOOST_TEST(shown("/a", "/a/b") == "/b");
  BOOST_TEST(shown("/a", "/a") == "");
}

BOOST_AUTO_TEST_CASE(nothing_is_delegated_beside_v1_or_where_the_cgroup_is_not_there) {
  Layout layout;
  layout.hierarchies.push_back({.mount_point = HostPath("/sys/fs/cgroup"),
                                .root = "/",
                                .controllers = {},
                                .unified = true,
                                .own_path = "/no such/cgroup"});
  BOOST_TEST(layout.pure_v2());
  BOOST_TEST(!delegated_cgroup(layout).has_value());
  layout.hierarchies.push_back({.mount_point = HostPath("/sys/fs/cgroup/cpu"),
                                .root = "/",
                                .controllers = {"cpu"},
                                .unified = false,
                                .own_path = "/"});
  BOOST_TEST(!delegated_cgroup(layout).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
