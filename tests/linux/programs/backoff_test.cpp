#include "linux/programs/program.hpp"

#include <boost/test/unit_test.hpp>

namespace ocirun::linux {
namespace {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(backoffs)

BOOST_AUTO_TEST_CASE(waits_double_up_to_five_minutes_and_a_long_run_begins_anew) {
  Backoff backoff;
  for (const auto wait : {1s, 2s, 4s, 8s, 16s, 32s, 64s, 128s, 256s, 300s, 300s})
    BOOST_TEST((backoff.after_run_of(1s) == wait));
  BOOST_TEST((backoff.after_run_of(10min) == 1s));
  BOOST_TEST((backoff.after_run_of(9min) == 2s));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ocirun::linux
