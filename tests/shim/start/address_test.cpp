#include "shim/start/address.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

namespace {

struct BundleScene {
  Scratch scratch;
  UniqueFd bundle = scratch.open();
  Result<std::string> group_of(std::string_view config) const {
    scratch.file("config.json", config);
    return read_group(bundle, "web1");
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(address, BundleScene)

BOOST_AUTO_TEST_CASE(containers_of_a_pod_are_one_group) {
  BOOST_TEST(must(group_of(R"({"annotations": {"io.kubernetes.cri.sandbox-id": "pod1"}})")) ==
             "pod1");
  BOOST_TEST(must(group_of(R"({"annotations": {"io.containerd.runc.v2.group": "g"}})")) == "g");
  BOOST_TEST(must(group_of(R"({"annotations": {"io.containerd.runc.v2.group": "g",
                                               "io.kubernetes.cri.sandbox-id": "pod1"}})")) ==
             "pod1");
}

BOOST_AUTO_TEST_CASE(any_other_container_is_a_group_of_its_own) {
  BOOST_TEST(must(read_group(bundle, "web1")) == "web1");  // no config.json
  BOOST_TEST(must(group_of("{}")) == "web1");
  BOOST_TEST(must(group_of(R"({"annotations": null})")) == "web1");
  BOOST_TEST(must(group_of(R"({"annotations": {"io.containerd.runc.v2.group": ""}})")) == "web1");
}

BOOST_AUTO_TEST_CASE(a_damaged_configuration_is_an_error) {
  BOOST_TEST(must_fail(group_of("{")).starts_with("config.json: "));
  BOOST_TEST(must_fail(group_of("[]")).starts_with("config.json: "));
  BOOST_TEST(must_fail(group_of(R"({"annotations": {"io.containerd.runc.v2.group": 7}})"))
                 .starts_with("config.json: /annotations/io.containerd.runc.v2.group: "));
}

BOOST_AUTO_TEST_CASE(a_symlink_is_no_configuration) {
  scratch.file("other.json", "{}");
  BOOST_REQUIRE(::symlink("other.json", (scratch / "config.json").c_str()) == 0);
  BOOST_TEST(!read_group(bundle, "web1"));
}

BOOST_AUTO_TEST_CASE(the_path_is_the_one_that_containerds_tools_compute) {
  // sha256sum of "/run/containerd/containerd.sock/default/web1"
  BOOST_TEST(must(socket_path("/run/containerd/s", "/run/containerd/containerd.sock", "default",
                              "web1")) ==
             "/run/containerd/s/a74decd473e9b18c325dac30b287059a87b73d3e3b63eed878c2a13c2fae8e4f");
}

BOOST_AUTO_TEST_CASE(a_directory_whose_path_is_too_long_for_a_socket_is_refused) {
  const std::string longest = "/" + std::string(41, 'd');
  BOOST_TEST(must(socket_path(longest, "a", "n", "g")).size() == 107u);
  BOOST_TEST(must_fail(socket_path(longest + "d", "a", "n", "g")) ==
             "the directory of sockets " + longest +
                 "d: its path has 43 bytes, and at most 42 are possible");
  BOOST_TEST(must_fail(socket_path("s", "a", "n", "g")) ==
             "the directory of sockets \"s\": must be an absolute path");
}

BOOST_AUTO_TEST_SUITE_END()
