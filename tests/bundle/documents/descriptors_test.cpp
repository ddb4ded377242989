#include "bundle/documents/state.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::bundle;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(descriptors)

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  const StandardStreams streams{"/dev/null", "pipe:[12]", ""};
  BOOST_TEST(descriptors_text(streams) == R"(["/dev/null","pipe:[12]",""])");
  BOOST_TEST((must(parse_descriptors(descriptors_text(streams))) == streams));
}

BOOST_AUTO_TEST_CASE(anything_but_three_strings_is_refused) {
  for (const char* text : {"", "{}", "[]", R"(["a","b"])", R"(["a","b","c","d"])", R"(["a","b",3])",
                           R"(["a","b","c"] x)"})
    BOOST_CHECK_MESSAGE(!parse_descriptors(text), text);
}

BOOST_AUTO_TEST_SUITE_END()
