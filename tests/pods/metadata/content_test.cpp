#include "pods/metadata/content.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"

namespace ocirun::pods {
namespace {

using test::must;
using test::must_fail;

BOOST_AUTO_TEST_SUITE(metadata_content)

Content full_content() {
  return {.token = "token",
          .uuid = "uuid",
          .key = std::string("\0\xff key", 6),
          .resources = {{"pod/uuid", "text/plain; charset=us-ascii", "uuid"},
                        {"empty", "application/json", ""},
                        {"lines", "application/json", std::string("a\tb\n\0c\n", 7)}}};
}

BOOST_AUTO_TEST_CASE(each_part_is_read_as_it_was_written) {  // AC-22
  const Content read = must(parse_content(content_text(full_content())));
  BOOST_TEST(read.token == "token");
  BOOST_TEST(read.uuid == "uuid");
  BOOST_TEST((read.key == std::string("\0\xff key", 6)));
  BOOST_REQUIRE(read.resources.size() == 3);
  BOOST_TEST(read.resources[0].media_type == "text/plain; charset=us-ascii");
  BOOST_TEST(read.resources[1].body.empty());
  BOOST_TEST(read.resources[2].path == "lines");
  BOOST_TEST((read.resources[2].body == std::string("a\tb\n\0c\n", 7)));
}

BOOST_AUTO_TEST_CASE(a_content_that_is_damaged_is_an_error) {
  const std::string text = content_text(full_content());
  for (const std::string_view damaged :
       {"", "token\n", "token uuid\n", "token uuid xyz\n", "token uuid 123\n"})
    BOOST_TEST(must_fail(parse_content(damaged)).ends_with("must have a token, a UUID and a key"));
  BOOST_TEST(must_fail(parse_content(text.substr(0, text.size() - 1))) ==
             "the content of the metadata service is damaged: the length of \"lines\" is wrong");
  for (const std::string_view length : {"5", "3", "-1", "99999999999999999999", "x"}) {
    std::string changed = text;
    changed.replace(changed.find("\t4\n") + 1, 1, length);
    BOOST_TEST(!parse_content(changed), length);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ocirun::pods
