#include "linux/base/ids.hpp"

#include <string>
#include <type_traits>

#include "tests/child_test.hpp"

using namespace ocirun;

BOOST_AUTO_TEST_SUITE(ids)

BOOST_AUTO_TEST_CASE(the_whole_range_can_be_held_but_for_the_value_that_means_unchanged) {
  BOOST_TEST(Uid::make(0)->value() == 0u);
  BOOST_TEST(Uid::make(4294967294)->value() == 4294967294u);
  for (const std::uint64_t bad : {std::uint64_t{4294967295}, std::uint64_t{4294967296},
                                  std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    const auto id = Gid::make(bad);
    BOOST_REQUIRE(!id);
    BOOST_TEST(id.error().number() == EINVAL);
    BOOST_TEST(id.error().message().find("group id") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_number_is_told_without_an_errno) {
  BOOST_TEST(ocirun::test::must_fail(Uid::parse("root")) ==
             "user id \"root\": must be a number from 0 to 4294967294");
}

BOOST_AUTO_TEST_CASE(decimal_digits_are_read) {
  BOOST_TEST(Uid::parse("0")->value() == 0u);
  BOOST_TEST(Uid::parse("1000")->value() == 1000u);
  BOOST_TEST(Gid::parse("4294967294")->value() == 4294967294u);
}

// crun CVE-2026-30892: text that is not wholly a number must not become one.
BOOST_AUTO_TEST_CASE(anything_but_digits_is_an_error_and_never_root) {
  using namespace std::string_literals;
  for (const std::string& text : {""s,
                                  " "s,
                                  "-0"s,
                                  "-1"s,
                                  "+1"s,
                                  " 1"s,
                                  "1 "s,
                                  "1\n"s,
                                  "0x10"s,
                                  "1e3"s,
                                  "1.0"s,
                                  "root"s,
                                  "1000:1000"s,
                                  "4294967295"s,
                                  "4294967296"s,
                                  "18446744073709551616"s,
                                  "99999999999999999999999"s,
                                  "1\0"s,
                                  "\0"s,
                                  "1000\0junk"s,
                                  "١"s,
                                  "1,000"s}) {
    const auto id = Uid::parse(text);
    BOOST_CHECK_MESSAGE(!id, "\"" << text << "\" was read as an id");
    if (!id) BOOST_TEST(id.error().message().find("0 to 4294967294") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_user_is_no_group) {
  BOOST_TEST((!std::is_convertible_v<Uid, Gid>));
  BOOST_TEST((!std::is_convertible_v<int, Uid>));
  BOOST_TEST((!std::is_constructible_v<Uid, std::uint32_t>));
  BOOST_TEST(Uid{}.value() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
