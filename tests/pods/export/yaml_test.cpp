#include "pods/export/yaml.hpp"

#include <boost/test/unit_test.hpp>

#include "bundle/json/writer.hpp"
#include "pods/documents/source.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

std::string written(std::string_view text) {
  bundle::Document document;
  YamlPart part = YamlPart::object(document);
  part.add("k", text);
  return yaml_text(*part.node());
}

/// Writes a text as a member, an item and a name, and reads the document again.
bool comes_back(std::string_view text) {
  bundle::Document document;
  YamlPart part = YamlPart::object(document);
  part.add("k", text);
  part.add("list", std::vector<std::string>{std::string(text), "end"});
  part.add_object("inner").add_object(text).add("last", text);
  Source source;
  bundle::Report report;
  if (!source.parse("---\n" + yaml_text(*part.node()), report)) return false;
  const auto is_text = [&](const bundle::Node* node) {
    return node != nullptr && node->is_string() && node->text == text;
  };
  const bundle::Node* inner = source.root()->find("inner");
  return is_text(source.root()->find("k")) && is_text(source.root()->find("list")->first) &&
         inner->first->key == text && is_text(inner->first->find("last"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(yaml_of_exports)

BOOST_AUTO_TEST_CASE(a_text_that_a_reader_takes_for_something_else_is_in_quotes) {
  for (const char* text :
       {"y",    "Y",      "yes",    "No",    "on",   "OFF",   "true", "False",      "null",  "NULL",
        "~",    "",       "0",      "12",    "0755", "0o17",  "0x1f", "1e3",        "1_000", "+1",
        "-1",   ".5",     "1.5",    ".inf",  ".nan", "12:30", "1:2",  "2001-12-14", "=",     "<<",
        "-",    "?",      ":",      "- a",   "a: b", "a:",    "a #b", "#a",         "&a",    "*a",
        "!a",   "|",      ">",      "@a",    "`a",   "%a",    "{a",   "[a",         "a]",    "'a",
        "\"a",  "a\tb",   " a",     "a ",    "---",  "...",   "a, b", "\\n",        "500m",  "64Mi",
        "\x7f", "\u0085", "\u2028", "\ufeff"}) {
    BOOST_TEST(written(text).starts_with("k: \""), text);
    BOOST_TEST(comes_back(text), text);
  }
}

BOOST_AUTO_TEST_CASE(other_texts_have_no_quotes) {
  for (const char* text : {"a", "/bin/sh", "example/web:1", "docker.io/library/nginx:1.25",
                           "hello world", "RuntimeDefault", "nope", "a.b_c-d+e@f"}) {
    BOOST_TEST(written(text) == fmt::format("k: {}\n", text));
    BOOST_TEST(comes_back(text), text);
  }
}

BOOST_AUTO_TEST_CASE(lines_are_a_block_unless_a_block_changes_them) {
  BOOST_TEST(written("a: 1\n\n b\n") == "k: |\n  a: 1\n\n   b\n");
  BOOST_TEST(written("a\nb") == "k: |-\n  a\n  b\n");
  for (const char* text : {"\na", "a\n\n", " a\nb", "\n", "a\r\nb", "a\n\x01", "a\nb \n",
                           "a\n\n\nb", "# a\nb", "a\n\tb\n", "a\n---\nb", "- a\n- b\n"})
    BOOST_TEST(comes_back(text), text);
}

BOOST_AUTO_TEST_CASE(every_character_comes_back) {
  for (std::uint32_t code = 1; code < 0x3000; ++code) {
    if (code == 0xD) continue;  // in the middle of a line below
    std::string text = "x";
    if (code < 0x80)
      text += static_cast<char>(code);
    else if (code < 0x800)
      text += {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
    else
      text += {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
               static_cast<char>(0x80 | (code & 0x3F))};
    BOOST_REQUIRE_MESSAGE(comes_back(text + "y"), "U+" << std::hex << code);
  }
  BOOST_TEST(comes_back("a\rb"));
  BOOST_TEST(comes_back("\U0001F600"));
}

BOOST_AUTO_TEST_CASE(objects_and_lists_nest) {
  bundle::Document document;
  YamlPart part = YamlPart::object(document);
  part.add_list("empty");
  part.add_object("none");
  YamlPart list = part.add_list("list");
  YamlPart item = list.add_object();
  item.add("name", "a");
  item.add("flag", true);
  item.add("number", std::uint32_t{7});
  item.add_list("deep").add_list("").add("", "x");
  BOOST_TEST(yaml_text(*part.node()) ==
             "empty: []\n"
             "none: {}\n"
             "list:\n"
             "  - name: a\n"
             "    flag: true\n"
             "    number: 7\n"
             "    deep:\n"
             "      - - x\n");
}

BOOST_AUTO_TEST_SUITE_END()
