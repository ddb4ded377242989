#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string>

#include "linux/base/text.hpp"

using namespace ocirun::linux;
using Pieces = std::vector<std::string_view>;

namespace {

bool is_rfc3339(std::string_view text) {
  const std::string_view pattern = "dddd-dd-ddTdd:dd:dd";
  if (text.size() <= pattern.size() || !text.ends_with('Z')) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != pattern[i]) return false;
  return true;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(text)

BOOST_AUTO_TEST_CASE(the_time_is_rfc_3339_in_utc) {  // `created` in state.json
  BOOST_TEST(is_rfc3339(rfc3339_now(0)));
  BOOST_TEST(rfc3339_now(0).size() == 20u);
  const std::string precise = rfc3339_now(9);
  BOOST_TEST(is_rfc3339(precise));
  BOOST_TEST(precise.size() == 30u);
  BOOST_TEST(precise[19] == '.');
  ::setenv("TZ", "Asia/Tokyo", 1);
  ::tzset();
  const std::string now = rfc3339_now(0);
  BOOST_TEST(now.substr(0, 13) <= rfc3339_now(0).substr(0, 13));
  std::time_t seconds = std::time(nullptr);
  char hour[14];
  std::strftime(hour, sizeof hour, "%Y-%m-%dT%H", std::gmtime(&seconds));
  BOOST_TEST(rfc3339_now(0).starts_with(hour));
  ::unsetenv("TZ");
  ::tzset();
}

BOOST_AUTO_TEST_CASE(cut_takes_the_part_before_the_separator_and_the_separator) {
  std::string_view rest = "a::b";
  BOOST_TEST(cut(rest, ':') == "a");
  BOOST_TEST(rest == ":b");
  BOOST_TEST(cut(rest, ':') == "");
  BOOST_TEST(cut(rest, ':') == "b");
  BOOST_TEST(rest.empty());
  BOOST_TEST(cut(rest, ':') == "");
  rest = "last\n";
  BOOST_TEST(cut(rest, '\n') == "last");
  BOOST_TEST(rest.empty());
}

BOOST_AUTO_TEST_CASE(split_keeps_empty_pieces_and_words_do_not) {
  BOOST_TEST(split(",a,,b", ',') == (Pieces{"", "a", "", "b"}), boost::test_tools::per_element());
  BOOST_TEST(split("", ',') == Pieces{""}, boost::test_tools::per_element());
  BOOST_TEST(words("  a  b ") == (Pieces{"a", "b"}), boost::test_tools::per_element());
  BOOST_TEST(words("\n\n", '\n').empty());
}

BOOST_AUTO_TEST_CASE(a_number_is_the_whole_text) {
  BOOST_TEST(*number("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
  BOOST_TEST(*number<int>("-7") == -7);
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "0x1", "1.0", "18446744073709551616"})
    BOOST_TEST(!number(text), text);
  BOOST_TEST(!number<int>("2147483648"));
  BOOST_TEST(!number<std::uint32_t>("-1"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(printable)

BOOST_AUTO_TEST_CASE(control_characters_are_printed_as_escapes_in_utf_8_and_in_single_bytes) {
  BOOST_TEST(without_controls("a\x1b[2J\x07\x7f") == R"(a\x1b[2J\x07\x7f)");
  BOOST_TEST(without_controls("\xc2\x9b"
                              "31m") == R"(\x9b31m)");
  BOOST_TEST(without_controls("\x9b"
                              "31m \x85") == R"(\x9b31m \x85)");
  BOOST_TEST(without_controls("\xe2\x82\x9b\x9b") ==
             "\xe2\x82\x9b\\x9b");  // U+209B, then a control byte
  BOOST_TEST(without_controls("gr\xc3\xbc\xc3\x9f\n\t\xf0\x9f\x90\xb3") ==
             "gr\xc3\xbc\xc3\x9f\n\t\xf0\x9f\x90\xb3");
  BOOST_TEST(in_one_line("a\nb\tc") == R"(a\x0ab\x09c)");
}

BOOST_AUTO_TEST_SUITE_END()
