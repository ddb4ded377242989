#include "linux/base/text.hpp"

#include <boost/test/unit_test.hpp>

using namespace ocirun::linux;

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
