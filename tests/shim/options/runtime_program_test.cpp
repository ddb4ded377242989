#include "shim/options/runtime_program.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(runtime_program)

BOOST_AUTO_TEST_CASE(a_runtime_is_a_path_or_a_name_in_the_path) {
  BOOST_TEST(must(find_runtime("/no/such/runtime")) == "/no/such/runtime");
  BOOST_TEST(must(find_runtime("sh")).ends_with("/sh"));
  BOOST_TEST(must_fail(find_runtime("bin/sh")) ==
             "BinaryName \"bin/sh\": must be an absolute path, or a name in PATH");
  BOOST_TEST(must_fail(find_runtime("no-such-runtime")) ==
             "the runtime no-such-runtime is in no directory of containerd's PATH: install it, or "
             "name its path as BinaryName in the runtime's options");
}

BOOST_AUTO_TEST_CASE(each_namespace_has_a_root_of_its_own) {
  BOOST_TEST(runtime_root("", "k8s.io") == "/run/containerd/ocirun/k8s.io");
  BOOST_TEST(runtime_root("/run/other", "moby") == "/run/other/moby");
}

BOOST_AUTO_TEST_SUITE_END()
