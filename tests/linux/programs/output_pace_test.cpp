// How much of a CPU a supervisor spends on the output of a container, by clocks of the test.

#include "linux/programs/output_pace.hpp"

#include <boost/test/unit_test.hpp>

using namespace ocirun::linux;
using namespace std::chrono_literals;

namespace {

OutputPace::Reading pace_clocks;

/// A reading that takes so much time, and so much of a CPU. Returns the rest after it.
OutputPace::Clock::duration rest_after(std::chrono::nanoseconds time,
                                       std::chrono::nanoseconds cpu) {
  OutputPace pace([] { return pace_clocks; });
  pace.begin();
  pace_clocks.time += time;
  pace_clocks.cpu += cpu;
  pace.end();
  BOOST_TEST(pace.rests(pace_clocks.time));
  BOOST_TEST(!pace.rests(pace.rests_until()));
  return pace.rests_until() - pace_clocks.time;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pace_of_output)

BOOST_AUTO_TEST_CASE(the_rest_counts_from_the_end_of_a_reading_and_has_no_upper_limit) {
  for (const std::chrono::nanoseconds work : {10us, 500us, 3000us, 42000us, 680000us, 60000000us})
    BOOST_TEST((rest_after(work, work) >= 9 * work));
}

BOOST_AUTO_TEST_CASE(a_tenth_of_a_cpu_has_room_for_the_poll_before_each_reading) {
  constexpr auto kPoll = 500us;
  for (const std::chrono::nanoseconds work : {1us, 100us, 556us, 1000us, 5000us, 42000us}) {
    const auto whole = work + kPoll + rest_after(work, work);
    BOOST_TEST((10 * (work + kPoll) <= whole));
  }
}

BOOST_AUTO_TEST_CASE(a_reading_that_waited_for_the_cpu_is_not_paid_for) {
  BOOST_TEST((rest_after(100ms, 1ms) < 200ms));
}

BOOST_AUTO_TEST_CASE(after_a_slow_disk_the_supervisor_has_as_much_time_for_other_work) {
  BOOST_TEST((rest_after(2s, 1ms) >= 2s));
}

BOOST_AUTO_TEST_CASE(a_reading_takes_some_milliseconds_of_time) {
  OutputPace pace([] { return pace_clocks; });
  pace.begin();
  BOOST_TEST(pace.has_time_left());
  pace_clocks.cpu += 1h;
  BOOST_TEST(pace.has_time_left());
  pace_clocks.time += 5ms;
  BOOST_TEST(!pace.has_time_left());
  pace.begin();
  BOOST_TEST(pace.has_time_left());
}

BOOST_AUTO_TEST_SUITE_END()
