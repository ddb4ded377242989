// Pods without a cgroup.

#include "pods/run/sandbox/pod_cgroup.hpp"

#include <sched.h>

#include "tests/child_test.hpp"
#include "tests/must.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

Workload service_with(std::string_view resources) {
  return read_workload(
      "f", fmt::format("{{\"apiVersion\": \"serving.knative.dev/v1\", \"kind\": \"Service\", "
                       "\"metadata\": {{\"name\": \"x\"}}, \"spec\": {{\"template\": {{\"spec\": "
                       "{{\"containers\": [{{\"image\": \"i\", \"resources\": {{{}}}}}]}}}}}}}}",
                       resources));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cgroups_of_pods)

BOOST_AUTO_TEST_CASE(limits_need_a_cgroup_and_requests_do_not) {
  BOOST_TEST(must(cgroup_path_for("web")) == "/ocirun/web");
  const Workload limited = service_with("\"limits\": {\"memory\": \"64Mi\"}");
  BOOST_TEST(lines(limited.problems) == "");
  const std::string refusal = must_fail(check_unlimited(limited, Requests::kWeights));
  BOOST_TEST(refusal.starts_with("f:1:"));
  BOOST_TEST(refusal.contains("container \"user-container\" has limits of memory or processors"));
  const Workload requesting = service_with("\"requests\": {\"cpu\": \"100m\"}");
  must(check_unlimited(requesting, Requests::kWeights));
  BOOST_TEST(has_requests(requesting.pod));
  BOOST_TEST(!has_requests(service_with("").pod));
  BOOST_TEST(
      must_fail(check_unlimited(requesting, Requests::kHard)).starts_with("--enforce-required: "));
  must(check_unlimited(service_with(""), Requests::kHard));
}

// Its root is that of the host, who owns the hierarchies.
OCIRUN_CHILD_TEST(a_user_namespace_with_the_hosts_root_has_cgroups_at_the_top,
                  CLONE_NEWUSER | CLONE_NEWNS) {
  BOOST_TEST(must(cgroup_path_for("web")) == "/ocirun/web");
}

BOOST_AUTO_TEST_SUITE_END()
