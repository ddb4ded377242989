#include "bundle/json/document.hpp"

#include <boost/test/unit_test.hpp>

#include "bundle/json/writer.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(json_edit)

namespace {

struct Fixture {
  explicit Fixture(std::string_view text) {
    Report report;
    BOOST_TEST_REQUIRE(document.parse(text, report));
    root = document.root();
  }
  std::string text() const {
    JsonWriter out(JsonWriter::Layout::kOneLine);
    out.value(*root);
    return std::move(out).take();
  }
  Document document;
  Editor editor{document};
  Node* root = nullptr;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_member_is_replaced_even_if_it_is_null) {
  Fixture edited(R"({"a": null, "b": 1, "c": "x"})");
  edited.editor.set(edited.root, "a", edited.editor.number(7));
  edited.editor.set(edited.root, "c", edited.editor.boolean(true));
  edited.editor.set(edited.root, "d", edited.editor.text("y"));
  BOOST_TEST(edited.text() == R"({"b":1,"a":7,"c":true,"d":"y"})");
}

BOOST_AUTO_TEST_CASE(an_object_or_an_array_is_made_where_there_is_none) {
  Fixture edited(R"({"there": {"x": 1}, "null": null})");
  Editor& editor = edited.editor;
  editor.set(editor.object_in(edited.root, "there"), "y", editor.number(2));
  append(editor.array_in(editor.object_in(edited.root, "new"), "list"), editor.text("one"), "");
  append(editor.array_in(edited.root, "null"), editor.text("two"), "");
  BOOST_TEST(edited.text() == R"({"there":{"x":1,"y":2},"new":{"list":["one"]},"null":["two"]})");
}

BOOST_AUTO_TEST_CASE(an_element_is_put_in_front_of_another_one_or_behind_all) {
  Fixture edited(R"(["b", "d"])");
  const Node* b = edited.root->first;
  insert(edited.root, edited.editor.text("a"), b);
  insert(edited.root, edited.editor.text("c"), b->next);
  insert(edited.root, edited.editor.text("e"), nullptr);
  BOOST_TEST(edited.text() == R"(["a","b","c","d","e"])");
}

BOOST_AUTO_TEST_CASE(removing_what_is_not_there_changes_nothing) {
  Fixture edited(R"({"a": 1, "b": 2})");
  Editor::remove(edited.root, "c");
  Editor::remove(edited.root, "a");
  BOOST_TEST(edited.text() == R"({"b":2})");
}

BOOST_AUTO_TEST_CASE(a_name_and_a_text_may_be_gone_before_the_document) {
  Fixture edited("{}");
  {
    const std::string name = "a name that is longer than any short string";
    edited.editor.set(edited.root, name, edited.editor.text(name + "!"));
  }
  BOOST_TEST(edited.text() == R"({"a name that is longer than any short string":)"
                              R"("a name that is longer than any short string!"})");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
