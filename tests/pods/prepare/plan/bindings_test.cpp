// "$(NAME)" in commands, arguments and variables, by the rules of Kubernetes.

#include "pods/prepare/plan/bindings.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"

using namespace ocirun::pods;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(expansion)

BOOST_AUTO_TEST_CASE(references_become_the_values_and_all_else_stays) {
  const Variables variables{{"A", "a"}, {"EMPTY", ""}, {"NESTED", "$(A)"}, {"B C", "blank"}};
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"plain", "plain"},
      {"$(A)", "a"},
      {"x$(A)y$(A)z",
       "xaya"
       "z"},
      {"[$(EMPTY)]", "[]"},
      {"$(NESTED)", "$(A)"},  // a value is not read again
      {"$(UNKNOWN)", "$(UNKNOWN)"},
      {"$(B C)", "blank"},
      {"$()", "$()"},
      {"$$(A)", "$(A)"},
      {"$$$(A)", "$a"},
      {"$$$$(A)", "$$(A)"},
      {"$$", "$"},
      {"kill $$", "kill $"},
      {"$", "$"},
      {"$A", "$A"},
      {"${A}", "${A}"},
      {"$(A", "$(A"},
      {"$(A $(A)", "$(A $(A)"},  // the name is "A $(A"
      {"$($(A))", "$($(A))"},
  };
  for (const auto& [text, wanted] : cases)
    BOOST_TEST(must(expand(text, variables, 100)) == wanted, text);
  BOOST_TEST(must(expand("<$(A)$(UNKNOWN)>", variables, 100, Unknown::kLeftOut)) == "<a>");
}

BOOST_AUTO_TEST_CASE(an_expansion_ends_at_its_limit) {
  const Variables variables{{"A", std::string(60, 'a')}};
  BOOST_TEST(must(expand("$(A)$$", variables, 61)).size() == 61U);
  for (const char* text : {"$(A)$(A)", "$(A)bb", "$(A)$$$", "$(A)$(B)"})
    BOOST_TEST(must_fail(expand(text, variables, 61)).contains("more than 61 bytes"), text);
}

BOOST_AUTO_TEST_SUITE_END()
