#include "pods/run/sandbox/pod_cgroup.hpp"

#include <boost/test/unit_test.hpp>

#include "cgroups/hierarchies/unit_names.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using ocirun::test::must;

BOOST_AUTO_TEST_SUITE(pod_slices)

BOOST_AUTO_TEST_CASE(a_pods_slice_is_in_no_other_pods_slice) {
  BOOST_TEST(must(cgroups::expand_slice(slice_name_for("web"))) ==
             "/ocirun.slice/ocirun-web.slice");
  BOOST_TEST(must(cgroups::expand_slice(slice_name_for("web-a.b_c"))) ==
             "/ocirun.slice/ocirun-web\\x2da.b_c.slice");
}

BOOST_AUTO_TEST_CASE(the_runtime_makes_the_scope_whose_counters_are_read) {
  const std::string slice = slice_name_for("a-b");
  const auto scope = must(cgroups::name_scope(cgroups_path_in(slice, "a-b.c-d"), "a-b.c-d",
                                              cgroups::SystemdInstance::kSystem));
  BOOST_TEST(scope.slice == slice);
  BOOST_TEST(scope.unit == scope_name_for("a-b.c-d"));
}

BOOST_AUTO_TEST_SUITE_END()
