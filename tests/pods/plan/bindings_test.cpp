// "$(NAME)" in commands, arguments and variables, by the rules of Kubernetes.

#include "pods/plan/bindings.hpp"

#include <boost/test/unit_test.hpp>

using namespace ocirun::pods;

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
  for (const auto& [text, wanted] : cases) BOOST_TEST(expand(text, variables) == wanted, text);
}

BOOST_AUTO_TEST_SUITE_END()
