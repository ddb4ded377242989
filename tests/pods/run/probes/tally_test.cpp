#include "pods/run/probes/ask.hpp"

#include <boost/test/unit_test.hpp>

namespace ocirun::pods {
namespace {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(tallies)

Probe probe_of(std::uint32_t successes, std::uint32_t failures) {
  Probe probe;
  probe.initial_delay = 5s;
  probe.period = 10s;
  probe.success_threshold = successes;
  probe.failure_threshold = failures;
  return probe;
}

/// What is_good() says after each of the answers: "1" a success, "0" a failure.
std::string verdicts(const Probe& probe, bool is_good, std::string_view answers) {
  Tally tally(probe, is_good);
  tally.begin({}, is_good);
  std::string good;
  for (const char answer : answers) {
    tally.count(answer == '1');
    good += tally.is_good() ? '1' : '0';
  }
  return good;
}

BOOST_AUTO_TEST_CASE(OAM_19_a_good_probe_fails_after_failures_in_a_row_only) {
  BOOST_TEST(verdicts(probe_of(1, 3), true, "0010001") == "1111101");
}

BOOST_AUTO_TEST_CASE(OAM_19_a_bad_probe_is_good_after_successes_in_a_row_only) {
  BOOST_TEST(verdicts(probe_of(2, 1), false, "1011011") == "0001001");
}

BOOST_AUTO_TEST_CASE(OAM_19_the_first_question_waits_and_periods_go_from_question_to_question) {
  Tally tally(probe_of(1, 1), true);
  const Tally::Clock::time_point start{100s};
  tally.begin(start, true);
  BOOST_TEST((tally.next() == start + 5s));
  tally.asked(start + 7s);
  BOOST_TEST((tally.next() == start + 17s));
}

BOOST_AUTO_TEST_CASE(a_new_run_of_the_program_begins_without_the_failures_of_the_last) {
  Tally tally(probe_of(1, 2), true);
  tally.begin({}, true);
  tally.count(false);
  tally.count(false);
  BOOST_TEST(tally.has_failed());
  tally.begin({}, true);
  BOOST_TEST(!tally.has_failed());
  tally.count(false);
  BOOST_TEST(tally.is_good());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ocirun::pods
