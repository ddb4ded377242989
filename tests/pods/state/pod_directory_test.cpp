// Where pods are kept.

#include "pods/state/pod_directory.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "tests/child_test.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(directories_of_pods)

BOOST_AUTO_TEST_CASE(an_ordinary_user_has_a_data_directory_of_the_own) {
  if (!is_root()) return;
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

BOOST_AUTO_TEST_SUITE_END()
