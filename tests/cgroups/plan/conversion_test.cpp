#include "cgroups/plan/plan.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <utility>

using namespace ocirun::cgroups;

BOOST_AUTO_TEST_SUITE(conversion)

BOOST_AUTO_TEST_CASE(shares_become_a_weight_along_the_curve)
{
  // From the formula with 50 decimal digits.
  constexpr std::pair<std::uint64_t, std::uint64_t> kPoints[] = {
      {0, 1},          {1, 1},
      {2, 1},          {3, 2},
      {4, 2},          {10, 4},
      {100, 17},       {256, 35},
      {512, 59},       {1023, 100},
      {1024, 100},     {1025, 101},
      {2048, 174},     {4096, 303},
      {10000, 627},    {65536, 3023},
      {131072, 5478},  {200000, 7899},
      {262143, 10000}, {262144, 10000},
      {262145, 10000}, {UINT64_MAX, 10000}};
  for (const auto& [shares, weight] : kPoints)
    BOOST_TEST(cpu_weight(shares) == weight, shares << " shares");
}

BOOST_AUTO_TEST_CASE(more_shares_never_give_less_weight)
{
  std::uint64_t last = 0;
  for (std::uint64_t shares = 0; shares <= 262200; ++shares) {
    const std::uint64_t weight = cpu_weight(shares);
    BOOST_REQUIRE(weight >= last);
    BOOST_REQUIRE(weight >= 1);
    BOOST_REQUIRE(weight <= 10000);
    last = weight;
  }
}

BOOST_AUTO_TEST_CASE(a_block_weight_becomes_an_io_weight)
{
  constexpr std::pair<std::uint64_t, std::uint64_t> kPoints[] = {
      {0, 1}, {9, 1}, {10, 1}, {11, 11}, {100, 910}, {500, 4950}, {999, 9989}, {1000, 10000}};
  for (const auto& [block, io] : kPoints) BOOST_TEST(io_weight(block) == io, block << " of blkio");
}

BOOST_AUTO_TEST_CASE(minus_one_is_max) {
  BOOST_TEST(or_max(-1) == "max");
  BOOST_TEST(or_max(0) == "0");
  BOOST_TEST(or_max(INT64_MAX) == "9223372036854775807");
}

BOOST_AUTO_TEST_SUITE_END()
