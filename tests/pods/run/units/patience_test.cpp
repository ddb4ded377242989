// The time limits of a service, which follow from the document.

#include "pods/run/units/patience.hpp"

#include <boost/test/unit_test.hpp>

using namespace ocirun::pods;
using std::chrono::seconds;

namespace {

Probe probe(int delay, int period, std::uint32_t failures) {
  Probe made;
  made.initial_delay = seconds(delay);
  made.period = seconds(period);
  made.failure_threshold = failures;
  return made;
}

Pod pod_of(std::vector<Container> containers) {
  Pod pod;
  pod.containers = std::move(containers);
  return pod;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(patience)

BOOST_AUTO_TEST_CASE(probes_decide_when_a_pod_is_late) {
  Container slow, fast;
  slow.startup = probe(60, 10, 100);
  slow.readiness = probe(0, 5, 3);
  fast.readiness = probe(0, 1, 3);
  BOOST_TEST((ready_time(pod_of({Container{}}), seconds(300)) == std::nullopt));
  BOOST_TEST((ready_time(pod_of({fast}), seconds(300)) == seconds(300)));
  BOOST_TEST((ready_time(pod_of({slow, fast}), seconds(300)) == seconds(1075)));
  fast.starts_after = {"slow"};
  BOOST_TEST((ready_time(pod_of({slow, fast}), seconds(300)) == seconds(1078)));
  Container endless;
  endless.startup = probe(0, 3600, 4'000'000'000U);
  BOOST_TEST((ready_time(pod_of({endless, endless}), seconds(300)) == seconds(366L * 24 * 3600)));
  Container alive;
  alive.liveness = probe(0, 1, 3);
  BOOST_TEST((ready_time(pod_of({alive}), seconds(300)) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(a_start_has_a_limit_unless_a_wait_has_none) {
  Pod pod = pod_of({Container{}});
  BOOST_TEST((start_limit(pod, std::nullopt) == seconds(300)));
  BOOST_TEST((start_limit(pod, seconds(600)) == seconds(900)));
  pod.containers.front().starts_after = {"other"};
  BOOST_TEST((start_limit(pod, std::nullopt) == std::nullopt));
  BOOST_TEST((start_limit(pod, seconds(600)) == seconds(900)));
  pod.init_containers.emplace_back();
  BOOST_TEST((start_limit(pod, seconds(600)) == std::nullopt));
}

BOOST_AUTO_TEST_SUITE_END()
