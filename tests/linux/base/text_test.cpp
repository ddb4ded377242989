#include "linux/base/text.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <string>

using namespace ocirun::linux;
using Pieces = std::vector<std::string_view>;

BOOST_AUTO_TEST_SUITE(text)

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
