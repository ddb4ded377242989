// YAML and JSON to typed values with lines and columns.

#include <fmt/core.h>

#include "bundle/json/value.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

/// The problems of a text as a document of no particular kind.
std::string syntax(std::string_view text) {
  Source source;
  bundle::Report report;
  const bool whole = source.parse(text, report);
  BOOST_TEST(whole == (source.root() != nullptr));
  return lines(source.problems("f", report));
}

/// The value of "v: TEXT", as messages show it.
std::string value(const std::string& text) {
  Source source;
  bundle::Report report;
  BOOST_REQUIRE_MESSAGE(source.parse("v: " + text + "\n", report), text);
  return bundle::found(bundle::Value(*source.root()->first, report));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(yaml)

BOOST_AUTO_TEST_CASE(scalars_have_the_types_of_the_core_schema) {
  for (const char* text : {"", "~", "null", "Null", "NULL"}) BOOST_TEST(value(text) == "null");
  for (const char* text : {"true", "True", "TRUE"}) BOOST_TEST(value(text) == "true");
  BOOST_TEST(value("false") == "false");
  for (const char* text :
       {"no", "y", "on", "tRUE", "nUll", "1.2.3", "0x", "0b1", "1_000", "12h", "--", "1e"})
    BOOST_TEST(value(text) == fmt::format("\"{}\"", text));
  BOOST_TEST(value("12") == "12");
  BOOST_TEST(value("+12") == "12");
  BOOST_TEST(value("0755") == "0755");  // 493 in YAML 1.1
  BOOST_TEST(value("07") == "7");
  BOOST_TEST(value("0x1F") == "31");
  BOOST_TEST(value("0o17") == "15");
  BOOST_TEST(value("-9223372036854775808") == "-9223372036854775808");
  BOOST_TEST(value("18446744073709551615") == "18446744073709551615");
  for (const char* text :
       {"18446744073709551616", "-9223372036854775809", "1.5", "-.5", "1e3", ".inf", ".nan"})
    BOOST_TEST(value(text) == text);
  BOOST_TEST(value("\"12\"") == "\"12\"");
  BOOST_TEST(value("'true'") == "\"true\"");
  BOOST_TEST(value("'it''s'") == "\"it's\"");
  BOOST_TEST(value("|\n  a\n  b") == "\"a\\nb\\n\"");
}

BOOST_AUTO_TEST_CASE(members_keep_the_order_of_the_document) {
  Source source;
  bundle::Report report;
  BOOST_REQUIRE(source.parse("z: 1\na: 2\nm: 3\n", report));
  std::string order;
  for (const bundle::Node* node = source.root()->first; node != nullptr; node = node->next)
    order += node->key;
  BOOST_TEST(order == "zam");
}

BOOST_AUTO_TEST_CASE(what_has_no_meaning_in_a_document_is_refused_with_its_place) {
  BOOST_TEST(
      syntax("a: &x 1\n") ==
      "f:1:4: /a: has an anchor (\"&\"), which only an alias could use: write the value itself\n");
  BOOST_TEST(syntax("a: &x {b: 1}\n").contains("has an anchor"));
  BOOST_TEST(syntax("&x a: 1\n").contains("has an anchor"));
  BOOST_TEST(syntax("a: *x\n") != "");
  BOOST_TEST(syntax("a: 1\nb: !!str 2\n") ==
             "f:2:4: /b: has the tag \"tag:yaml.org,2002:str\": tags are not read\n");
  BOOST_TEST(syntax("a: !local [1]\n").contains("/a: has the tag \"!local\""));
  BOOST_TEST(syntax("a:\n  <<: {b: 1}\n") ==
             "f:2:3: /a: is a merge key (\"<<\"): write the members themselves\n");
  BOOST_TEST(syntax("? [a]\n: 1\n").contains("a name must be a text"));
  BOOST_TEST(syntax(": 1\n").contains("a name is missing"));
  BOOST_TEST(syntax("a: 1\nb: 2\na: 3\n") ==
             "f:3:1: /a: the name \"a\" occurs twice in this object (first at line 1)\n");
  BOOST_TEST(syntax("\"<<\": 1\n") == "");
  BOOST_TEST(syntax("--- {a: 1}\n...\n") == "");
}

BOOST_AUTO_TEST_CASE(a_syntax_error_has_line_and_column) {
  BOOST_TEST(syntax("a: [1, 2\nb: 3\n").starts_with("f:2:"));
  BOOST_TEST(syntax("a: [1, 2\nb: 3\n").contains("not valid YAML: "));
  BOOST_TEST(syntax("a: b: c\n").starts_with("f:1:"));
  BOOST_TEST(syntax("\ta: 1\n") != "");
  // yaml-cpp would find empty documents before these commas for ever (its issue 1040).
  BOOST_TEST(syntax(",{") == "f:1:1: the document: not valid YAML: no value begins here\n");
  BOOST_TEST(syntax("a\n--- \"b\" ,\n") ==
             "f:2:9: the document: not valid YAML: no value begins here\n");
  BOOST_TEST(syntax("") == "f: the document: is empty\n");
  BOOST_TEST(syntax("# only a comment\n") == "f: the document: is empty\n");
  BOOST_TEST(syntax("a: \xFF\n") == "f: the document: is not valid UTF-8\n");
  BOOST_TEST(syntax("{\"a\": 1,}").contains("not valid JSON: line 1, column 9"));
}

BOOST_AUTO_TEST_CASE(the_depth_of_a_document_is_bounded) {
  const auto nested = [](std::size_t depth) {
    return "a: " + std::string(depth, '[') + std::string(depth, ']');
  };
  BOOST_TEST(syntax(nested(63)) == "");
  BOOST_TEST(syntax(nested(64)).contains("nested more than 64 levels deep"));
  BOOST_TEST(syntax(nested(5000)).contains("nested more than 64 levels deep"));
}

BOOST_AUTO_TEST_CASE(a_value_of_json_has_line_and_column) {
  const std::string text =
      "{\"u\": \"\xC3\xA4\\\"}\", \"apiVersion\": \"core.oam.dev/v1alpha2\",\n"
      "  \"kind\": \"ContainerizedWorkload\", \"metadata\": {\"name\": \"a\"},\n"
      "  \"spec\": {\"containers\": [ 1, {} ] } }\n";
  BOOST_TEST(problems(text).starts_with("f:1:7: /u: unknown name"));
  BOOST_TEST(problems(text).contains("f:3:28: /spec/containers/0: must be an object, not 1\n"));
  BOOST_TEST(
      problems(text).contains("f:3:31: /spec/containers/1/name: is missing, it is required\n"));
}

BOOST_AUTO_TEST_CASE(problems_come_in_the_order_of_the_lines) {
  const std::string all = problems(
      "apiVersion: core.oam.dev/v1alpha2\nkind: ContainerizedWorkload\nspec:\n  containers: 1\n  "
      "odd: "
      "2\nmetadata: 3\n");
  BOOST_TEST(all.find("f:4:15: ") < all.find("f:5:8: "));
  BOOST_TEST(all.find("f:5:8: ") < all.find("f:6:11: "));
}

BOOST_AUTO_TEST_CASE(a_number_where_a_string_is_wanted_needs_quotes) {
  BOOST_TEST(problems("apiVersion: core.oam.dev/v1alpha2\nkind: ContainerizedWorkload\nmetadata: "
                      "{name: 0755}\n")
                 .contains("/metadata/name: must be a string, not 0755: write \"0755\" in quotes"));
}

BOOST_AUTO_TEST_CASE(the_kind_of_a_document_is_found_or_the_known_ones_are_told) {
  BOOST_TEST(problems("a: 1").starts_with("f:1:1: the document: has an unknown kind: "));
  BOOST_TEST(
      problems("apiVersion: v1\nkind: Event")
          .contains("/kind: the kind Event is not supported: a workload document is one of"));
  BOOST_TEST(problems("- a").contains("must be an object, not a list"));
}

BOOST_AUTO_TEST_CASE(an_unknown_name_without_a_value_is_unknown) {
  BOOST_TEST(problems("apiVersion: core.oam.dev/v1alpha2\nkind: ContainerizedWorkload\nmetadata: "
                      "{name: a, lables: }\n")
                 .contains("/metadata/lables: unknown name (did you mean labels?)"));
}

BOOST_AUTO_TEST_CASE(a_document_has_a_megabyte_at_most) {
  BOOST_TEST(
      syntax("a: " + std::string(Source::kMostBytes, 'x')).contains("at most 4194304 are read"));
  BOOST_TEST(syntax("{\"a\": 1" + std::string(Source::kMostBytes, ' ') + "}")
                 .contains("at most 4194304 are read"));
}

BOOST_AUTO_TEST_CASE(a_name_that_occurs_twice_in_json_has_its_line) {
  BOOST_TEST(syntax("{\"a\": 1,\n\"a\": 2}") ==
             "f:2:6: /a: the name \"a\" occurs twice in this object\n");
}

BOOST_AUTO_TEST_CASE(a_file_has_several_documents) {
  const auto count = [](std::string_view text) {
    Source source;
    bundle::Report report;
    return source.parse(text, report) ? source.roots().size() : 0;
  };
  BOOST_TEST(count("a: 1\n---\nb: 2\n") == 2U);
  BOOST_TEST(count("---\na: 1\n---\n# nothing\n---\nb: 2\n---\n") == 2U);
  BOOST_TEST(count("{\"a\": 1}\n---\n{\"b\": 2}\n") == 2U);
  BOOST_TEST(count("---\n---\n") == 0U);
  BOOST_TEST(syntax("a: 1\n---\nb: *x\n") != "");
  BOOST_TEST(syntax("a: 1\n---\nb: 1\nb: 2\n") ==
             "f:4:1: /b: the name \"b\" occurs twice in this object (first at line 3)\n");
}

BOOST_AUTO_TEST_SUITE_END()
