#include "pods/run/oom_kills.hpp"

#include <boost/test/unit_test.hpp>

using namespace ocirun::pods;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(oom_kills)

namespace {
const UnreportedKills::Clock::time_point kNow{1h};
}

BOOST_AUTO_TEST_CASE(programs_that_are_killed_together_are_all_told) {
  UnreportedKills kills(0);
  BOOST_TEST(kills.take(2, kNow));
  BOOST_TEST(kills.take(2, kNow + 1s));
  BOOST_TEST(!kills.take(2, kNow + 2s));
}

BOOST_AUTO_TEST_CASE(a_kill_of_another_process_is_forgotten_after_two_seconds) {
  UnreportedKills kills(0);
  BOOST_TEST(kills.take(3, kNow));  // the program and two of its children
  BOOST_TEST(!kills.take(3, kNow + 2001ms));
  BOOST_TEST(kills.take(4, kNow + 10s));
}

BOOST_AUTO_TEST_CASE(a_kill_that_a_container_has_reported_is_not_told_again) {
  UnreportedKills kills(0);
  kills.report(1);
  BOOST_TEST(!kills.take(1, kNow));
  BOOST_TEST(kills.take(2, kNow));
}

BOOST_AUTO_TEST_CASE(kills_before_the_adoption_of_a_pod_are_not_told) {
  UnreportedKills kills(5);
  BOOST_TEST(!kills.take(5, kNow));
  BOOST_TEST(kills.take(6, kNow));
}

BOOST_AUTO_TEST_SUITE_END()
