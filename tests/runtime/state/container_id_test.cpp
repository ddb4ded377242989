#include "runtime/state/container_id.hpp"

#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;
using namespace std::string_literals;

BOOST_AUTO_TEST_SUITE(container_id)

BOOST_AUTO_TEST_CASE(what_engines_and_schedulers_call_their_containers_is_valid) {
  for (const std::string& text :
       {"a"s, "0"s, "web1"s, "buildah-buildah3021"s, "4a6f1e"s + std::string(58, 'f'), "_"s, "-"s,
        "+"s, "--help"s, "n1.user.12.0.0"s, "A.b_c+d-e"s, "a."s, "a..b"s, "a..."s})
    BOOST_TEST(must(ContainerId::parse(text)).string() == text);
}

BOOST_AUTO_TEST_CASE(an_id_is_as_long_as_a_file_name_may_be) {
  BOOST_TEST(must(ContainerId::parse(std::string(255, 'x'))).string().size() == 255u);
  BOOST_TEST(!ContainerId::parse(std::string(256, 'x')));
  const std::string text = must_fail(ContainerId::parse(std::string(1'000'000, 'x')));
  BOOST_TEST(text.size() < 1000u);  // the message does not repeat the whole id
}

BOOST_AUTO_TEST_CASE(an_id_never_leads_anywhere_else) {
  for (const std::string& text :
       {""s, "."s, ".."s, ".hidden"s, "../web1"s, "a/b"s, "/"s, "a/"s, "a\\b"s})
    BOOST_CHECK_MESSAGE(!ContainerId::parse(text), text);
}

BOOST_AUTO_TEST_CASE(no_other_byte_is_allowed_at_any_place) {
  const std::string allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-.";
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool valid = allowed.find(c) != std::string::npos;
    BOOST_CHECK_MESSAGE(ContainerId::parse("a"s + c + "b").has_value() == valid, byte);
    BOOST_CHECK_MESSAGE(ContainerId::parse("a"s + c).has_value() == valid, byte);
    BOOST_CHECK_MESSAGE(ContainerId::parse(std::string(1, c)).has_value() == (valid && c != '.'),
                        byte);
  }
  BOOST_TEST(!ContainerId::parse("wéb"));
  BOOST_TEST(!ContainerId::parse("web1\n"));
  BOOST_TEST(!ContainerId::parse("web1\0"s));
}

BOOST_AUTO_TEST_CASE(the_error_names_the_id_and_what_is_allowed) {
  const std::string text = must_fail(ContainerId::parse("a b"));
  BOOST_TEST(text.find("\"a b\"") != std::string::npos);
  BOOST_TEST(text.find("255") != std::string::npos);
  BOOST_TEST(text.find("A-Z a-z 0-9") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
