// A workload with the options that complete its document.

#include "pods/prepare/complete.hpp"

#include <boost/test/unit_test.hpp>
#include <type_traits>

#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

constexpr const char* kService = R"({"apiVersion": "serving.knative.dev/v1", "kind": "Service",
  "metadata": {"name": "x"}, "spec": {"template": {"spec": {"containers": [
    {"image": "i", "ports": [{"name": "http1", "containerPort": 8080}]}]}}}})";

constexpr const char* kClaim = R"(apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: x}
spec:
  containers: [{name: c, image: i}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
)";

Result<Completed> completed(const char* text, Given given, Audience audience,
                            const Publishing& publishing = {}) {
  return complete(read_workload("f", text), std::move(given), HostPath("/data"), publishing,
                  audience);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(completed_workloads)

static_assert(!std::is_constructible_v<Completed, Workload, Given>);
static_assert(!std::is_default_constructible_v<Completed>);

BOOST_AUTO_TEST_CASE(a_published_port_is_the_one_that_an_option_has_moved) {
  Given given;
  given.port = 9000;
  const Completed made = must(completed(kService, std::move(given), Audience::kThisMachine,
                                        {.ports = {must(read_published("http1=80"))}}));
  BOOST_TEST(made.pod().host_ports.at(0).pod_port->number == 9000);
}

BOOST_AUTO_TEST_CASE(a_claim_is_kept_only_for_a_pod_that_will_run_here) {
  for (const Audience audience :
       {Audience::kThisMachine, Audience::kManyMachines, Audience::kSwarm, Audience::kRunning}) {
    const Completed made = must(completed(kClaim, {}, audience));
    BOOST_TEST(made.given().claims.contains("v") == (audience == Audience::kThisMachine));
  }
}

BOOST_AUTO_TEST_CASE(the_options_of_a_pod_that_runs_are_not_checked_again) {
  Given given;
  given.volumes["mistyped"] = {};
  BOOST_TEST(must_fail(completed(kClaim, given, Audience::kThisMachine))
                 .contains("--volume mistyped: the document names none of this name"));
  must(completed(kClaim, given, Audience::kRunning));
}

BOOST_AUTO_TEST_SUITE_END()
