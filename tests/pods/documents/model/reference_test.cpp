#include "pods/documents/model/reference.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

std::string full(std::string_view text) { return must(Reference::parse(text)).text(); }
std::string error(std::string_view text) { return must_fail(Reference::parse(text)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(references)

BOOST_AUTO_TEST_CASE(a_short_name_means_the_official_image_with_the_tag_latest) {
  BOOST_TEST(full("nginx") == "docker.io/library/nginx:latest");
  BOOST_TEST(full("nginx:1.25") == "docker.io/library/nginx:1.25");
  BOOST_TEST(full("docker.io/nginx") == "docker.io/library/nginx:latest");
  BOOST_TEST(full("index.docker.io/library/nginx") == "docker.io/library/nginx:latest");
  BOOST_TEST(full("someone/app") == "docker.io/someone/app:latest");
}

BOOST_AUTO_TEST_CASE(the_first_component_is_a_host_if_it_looks_like_one) {
  BOOST_TEST(must(Reference::parse("localhost/a/b")).host == "localhost");
  BOOST_TEST(must(Reference::parse("localhost:5000/a/b:t")).host == "localhost:5000");
  BOOST_TEST(must(Reference::parse("example.org/a")).path == "a");
  BOOST_TEST(must(Reference::parse("[fd00::1]:5000/a")).host == "[fd00::1]:5000");
  BOOST_TEST(must(Reference::parse("Host/a")).host == "Host");
  BOOST_TEST(must(Reference::parse("localhost")).path == "library/localhost");
}

BOOST_AUTO_TEST_CASE(a_digest_comes_with_or_without_a_tag) {
  const std::string digest = digest_of("x").text();
  const Reference both = must(Reference::parse("localhost:5000/a/b:t@" + digest));
  BOOST_TEST(both.tag == "t");
  BOOST_TEST(both.digest->text() == digest);
  BOOST_TEST(full("nginx@" + digest) == "docker.io/library/nginx@" + digest);
  BOOST_TEST(both.text() == "localhost:5000/a/b:t@" + digest);
}

BOOST_AUTO_TEST_CASE(separators_inside_a_component_follow_the_grammar) {
  for (const char* good : {"a.b", "a_b", "a__b", "a---b", "a/b.c-d", "0"})
    BOOST_TEST(Reference::parse(good).has_value(), good);
  for (const char* bad : {"a..b", "a___b", "-a", "a-", ".a", "a_.b", "a//b", "/a", "a/", "", "A",
                          "a b", "a/\xff", "../a", "a\n"})
    BOOST_TEST(!Reference::parse(bad).has_value(), bad);
}

BOOST_AUTO_TEST_CASE(an_error_quotes_the_part_that_is_wrong) {
  BOOST_TEST(error("a/B").find("\"B\" must be lower-case") != std::string::npos);
  BOOST_TEST(error("a:").find("the tag \"\"") != std::string::npos);
  BOOST_TEST(error("a:b:c").find("the tag \"b:c\"") != std::string::npos);
  BOOST_TEST(error("a:" + std::string(129, 't')).find("1 to 128") != std::string::npos);
  BOOST_TEST(error("a:.t").find("the tag \".t\"") != std::string::npos);
  BOOST_TEST(error("a:-t").find("the tag \"-t\"") != std::string::npos);
  BOOST_TEST(error("a@sha256:12").find("64 hexadecimal digits") != std::string::npos);
  BOOST_TEST(error("a@").find("sha256: or sha512:") != std::string::npos);
  BOOST_TEST(error("a.b:x/c").find("\"a.b:x\" is no host") != std::string::npos);
  BOOST_TEST(error("a.b:70000/c").find("is no host") != std::string::npos);
  BOOST_TEST(error("a..b/c").find("\"a..b\" is no host") != std::string::npos);
  BOOST_TEST(error("[::/c").find("is no host") != std::string::npos);
  BOOST_TEST(error(std::string(256, 'a')).find("at most 255") != std::string::npos);
  BOOST_TEST(error("a\x1b[31m").find('\x1b') == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
