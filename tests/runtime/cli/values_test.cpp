#include "runtime/cli/values.hpp"

#include <boost/test/unit_test.hpp>

using namespace ocirun;
using namespace ocirun::runtime::cli;

BOOST_AUTO_TEST_SUITE(size)

BOOST_AUTO_TEST_CASE(sizes_have_units_of_1024) {
  const auto bytes = [](std::string_view text) { return parse_size(text).value_or(-99); };
  BOOST_TEST(bytes("1048576") == 1048576);
  BOOST_TEST(bytes("64m") == 64LL << 20);
  BOOST_TEST(bytes("64MB") == 64LL << 20);
  BOOST_TEST(bytes("64Mi") == 64LL << 20);
  BOOST_TEST(bytes("1.5g") == 3LL << 29);
  BOOST_TEST(bytes("1.5GiB") == 3LL << 29);
  BOOST_TEST(bytes("2 k") == 2048);
  BOOST_TEST(bytes("7b") == 7);
  BOOST_TEST(bytes("0") == 0);
  BOOST_TEST(bytes("-1") == -1);
}

BOOST_AUTO_TEST_CASE(what_is_no_size_is_refused) {
  for (const char* text : {"", "m", "-2", "1x", "1mm", "1.m", "0x10", "9999999999999999999",
                           "8191p5", "9000000000p", "1bb", "1 ", "+1"})
    BOOST_TEST(!parse_size(text).has_value(), text);
}

BOOST_AUTO_TEST_CASE(durations_are_written_as_in_go) {
  using namespace std::chrono_literals;
  const auto time = [](std::string_view text) {
    return parse_duration(text).value_or(0ns).count();
  };
  BOOST_TEST(time("5s") == std::chrono::nanoseconds(5s).count());
  BOOST_TEST(time("100ms") == std::chrono::nanoseconds(100ms).count());
  BOOST_TEST(time("1m30s") == std::chrono::nanoseconds(90s).count());
  BOOST_TEST(time("1.5h") == std::chrono::nanoseconds(90min).count());
  BOOST_TEST(time("10us") == 10'000);
}

BOOST_AUTO_TEST_CASE(what_is_no_duration_above_zero_is_refused) {
  for (const char* text : {"", "0", "0s", "-1s", "5", "s", "1d", "1s2", "1..5s", "9999999h", "5 s"})
    BOOST_TEST(!parse_duration(text).has_value(), text);
}

BOOST_AUTO_TEST_SUITE_END()
