// Where pods are kept.

#include "pods/state/pod_directory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdlib>

#include "tests/child_test.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(directories_of_pods)

BOOST_AUTO_TEST_CASE(an_ordinary_user_has_a_data_directory_of_the_own, *needs_root()) {
  BOOST_TEST(run_in_child(0, [] {
               ::setenv("HOME", "/users/me", 1);
               ::setenv("XDG_DATA_HOME", "/data", 1);
               BOOST_TEST(must(default_data_directory()).string() == "/var/lib/ocirun");
               BOOST_REQUIRE(::setresuid(54321, 54321, 54321) == 0);
               BOOST_TEST(must(default_data_directory()).string() == "/data/ocirun");
               ::setenv("XDG_DATA_HOME", "relative", 1);
               BOOST_TEST(must(default_data_directory()).string() ==
                          "/users/me/.local/share/ocirun");
               ::unsetenv("HOME");
               BOOST_TEST(must_fail(default_data_directory()).contains("--data DIR"));
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_pod_whose_directory_cannot_be_opened_leaves_none) {
  const Scratch scratch;
  const auto pods = must(PodsDirectory::open(HostPath(scratch.path())));
  BOOST_TEST(run_in_child(0, [&] {
               const rlimit none{.rlim_cur = 0, .rlim_max = 0};
               BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
               BOOST_TEST((pods.make_pod("web").error().number() == EMFILE));
             }) == 0);
  BOOST_TEST(::access((scratch.path() + "/pods/web").c_str(), F_OK) != 0);
  BOOST_TEST(::access((scratch.path() + "/pods").c_str(), F_OK) == 0);
  must(pods.make_pod("web"));
}

BOOST_AUTO_TEST_SUITE_END()
