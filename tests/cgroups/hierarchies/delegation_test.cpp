// Which cgroups an ordinary user may make others in.

#include "cgroups/hierarchies/layout.hpp"

#include <boost/test/unit_test.hpp>

using namespace ocirun;
using namespace ocirun::cgroups;

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
