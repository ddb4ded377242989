#include <boost/test/unit_test.hpp>

#include "bundle/json/document.hpp"
#include "bundle/json/writer.hpp"
#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(json_document)

namespace {

std::vector<std::string> problems_of(std::string_view text) {
  return parse_config(text, kBundle).problems;
}

std::string nested(std::size_t levels) {
  std::string text = R"({"ociVersion": "1.3.0", "root": {"path": "r"}, "x": )";
  text.append(levels - 1, '[');
  text.append(levels - 1, ']');
  return text + "}";
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_not_json_is_refused_with_line_and_column) {  // D-2
  for (const std::string_view text :
       {"", " ", "{", "[", "{]", "{\"a\" 1}", "{\"a\": 01}", "{\"a\": nul}", "{} {}", "{\"a\": 1,}",
        "{'a': 1}", "{\"a\": NaN}", "// c\n{}", "{\"a\": \"\t\"}", "{\"a\": \"\\x\"}",
        "{\"a\": \"\\ud800\"}", "{\"a\": \"\xff\"}", "{\"a\": \"\xc0\x80\"}", "{\"a\": 1e999}"})
    BOOST_TEST_CONTEXT(text) {
      const auto problems = problems_of(text);
      BOOST_TEST_REQUIRE(problems.size() == 1U);
      BOOST_TEST(problems[0].contains(": not valid JSON: "), problems[0]);
    }
  BOOST_TEST(problems_of("{\"a\":\n  tru}")[0].contains("line 2, column 6"));
}

BOOST_AUTO_TEST_CASE(a_root_that_is_no_object_is_refused) {  // D-6
  for (const std::string_view text : {"null", "[]", "1", "\"x\"", "true"}) {
    const auto problems = problems_of(text);
    BOOST_TEST_REQUIRE(problems.size() == 1U);
    BOOST_TEST(problems[0].starts_with("the document: must be an object, not "), problems[0]);
  }
}

BOOST_AUTO_TEST_CASE(a_name_that_occurs_twice_is_refused_at_every_depth) {  // D-3
  constexpr std::string_view kStart = R"({"ociVersion": "1.3.0", "root": {"path": "r"}, )";
  struct Case {
    std::string_view rest, pointer;
  };
  for (const auto& [rest, pointer] :
       {Case{R"("root": {"path": "s"}})", "/root"},
        Case{R"("x": {"a": 1, "b": 2, "a": 1}})", "/x/a"},
        Case{R"("x": [{}, {"a/b": 1, "a/b": null}]})", "/x/1/a~1b"},
        Case{R"("annotations": {"": "1", "k": "1", "k": "2"}})", "/annotations/k"},
        Case{R"("x": {"\u0061": 1, "a": 2}})", "/x/a"}}) {
    const auto problems = problems_of(std::string(kStart) + std::string(rest));
    BOOST_TEST_REQUIRE(!problems.empty());
    BOOST_TEST(problems[0].starts_with(std::string(pointer) + ": the name "), problems[0]);
    BOOST_TEST(problems[0].contains("occurs twice"), problems[0]);
  }
}

BOOST_AUTO_TEST_CASE(duplicates_in_a_large_object_are_found_without_quadratic_work) {  // D-3
  std::string text = R"({"ociVersion": "1.3.0", "root": {"path": "r"}, "annotations": {)";
  for (int i = 0; i < 200000; ++i) text += fmt::format("\"key{}\": \"\", ", i);
  text += "\"key777\": \"\"}}";
  const auto problems = problems_of(text);
  BOOST_TEST_REQUIRE(problems.size() == 1U);
  BOOST_TEST(problems[0].starts_with("/annotations/key777: "), problems[0]);
}

BOOST_AUTO_TEST_CASE(many_problems_are_counted_and_the_first_hundred_listed) {
  std::string text = R"({"ociVersion": "1.3.0", "root": {"path": "r"}, "annotations": {"k0": 1)";
  for (int i = 1; i < 1000; ++i) text += fmt::format(", \"k{}\": 1", i);
  Parsed parsed = parse_config(text + "}}", kBundle);
  BOOST_TEST(parsed.problems.size() == 100U);
  BOOST_TEST(parsed.problem_count == 1000U);
  BOOST_TEST(std::move(parsed).take().error().message().ends_with(
      "(999 more: ocirun validate /bundles/web1)"));
}

BOOST_AUTO_TEST_CASE(sixty_four_levels_are_read_and_one_more_is_refused) {  // D, depth
  BOOST_TEST(problems_of(nested(64)).empty());
  const auto problems = problems_of(nested(65));
  BOOST_TEST_REQUIRE(problems.size() == 1U);
  BOOST_TEST(problems[0].starts_with("/x/0/0/0"), problems[0]);
  BOOST_TEST(problems[0].contains("nested more than 64 levels deep"), problems[0]);
  BOOST_TEST(problems_of(nested(1000000)).size() == 1U);
}

BOOST_AUTO_TEST_CASE(sixteen_mebibytes_are_read_and_one_byte_more_is_refused) {  // D, size
  std::string text = patched("{}");
  text.resize(std::size_t{16} << 20, ' ');
  BOOST_TEST(problems_of(text).empty());
  text += ' ';
  const auto problems = problems_of(text);
  BOOST_TEST_REQUIRE(problems.size() == 1U);
  BOOST_TEST(problems[0].contains("at most 16777216 are read"), problems[0]);
}

BOOST_AUTO_TEST_CASE(unknown_properties_are_passed_over_at_every_depth) {  // D-4
  const Parsed parsed = parse_patched(R"({
    "x": [1.5, -1, 18446744073709551616, {"y": null}], "root": {"x": 1},
    "process": {"user": {"x": {}}, "capabilities": {"x": 1}, "commandLine": "c"},
    "linux": {"x": 1, "resources": {"memory": {"x": "y"}, "oomScoreAdj": 3},
              "intelRdt": {"enableCMT": true}}})");
  BOOST_TEST(parsed.config.has_value());
  BOOST_TEST(parsed.warnings.empty());
}

BOOST_AUTO_TEST_CASE(null_is_the_same_as_absent_for_what_is_optional) {  // D-6
  auto document = whole_document();
  document["process"]["rlimits"] = nullptr;
  document["process"]["user"]["umask"] = nullptr;
  document["hooks"] = nullptr;
  document["vm"] = nullptr;
  document["linux"]["seccomp"] = nullptr;
  document["linux"]["resources"] = {{"memory", nullptr}, {"pids", nullptr}};
  const Parsed parsed = parse_config(document.dump(), kBundle);
  BOOST_TEST_REQUIRE(parsed.config.has_value());
  BOOST_TEST(!parsed.config->process->user.umask.has_value());
  BOOST_TEST(!parsed.config->seccomp.has_value());
  BOOST_TEST(!parsed.config->resources->memory.has_value());

  document["process"]["cwd"] = nullptr;
  check_one_problem(parse_config(document.dump(), kBundle).problems,
                    {"", "/process/cwd", "is missing, it is required"});
}

BOOST_AUTO_TEST_CASE(a_known_property_of_another_type_is_refused) {  // D-5
  constexpr Mistake kMistakes[] = {
      {R"({"hostname": 1})", "/hostname", "must be a string, not 1"},
      {R"({"root": {"readonly": "true"}})", "/root/readonly",
       "must be true or false, not \"true\""},
      {R"({"process": {"args": "sh"}})", "/process/args", "must be a list, not \"sh\""},
      {R"({"process": {"env": [1.5]}})", "/process/env/0", "must be a string, not 1.5"},
      {R"({"process": {"capabilities": ["CAP_KILL"]}})", "/process/capabilities",
       "must be an object, not a list"},
      {R"({"mounts": {}})", "/mounts", "must be a list, not an object"},
      {R"({"mounts": [null]})", "/mounts/0", "must be an object, not null"},
      {R"({"hooks": []})", "/hooks", "must be an object, not a list"},
      {R"({"linux": []})", "/linux", "must be an object, not a list"},
      {R"({"linux": {"resources": true}})", "/linux/resources", "must be an object, not true"},
      {R"({"annotations": {"a/b~c": 7}})", "/annotations/a~1b~0c", "must be a string, not 7"},
  };
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(integers_beyond_their_width_are_refused) {  // D-7
  constexpr Mistake kMistakes[] = {
      {R"({"process": {"oomScoreAdj": 1.0}})", "/process/oomScoreAdj", "not 1.0"},
      {R"({"process": {"oomScoreAdj": 1e2}})", "/process/oomScoreAdj", "not 100.0"},
      {R"({"process": {"oomScoreAdj": "1"}})", "/process/oomScoreAdj", "not \"1\""},
      {R"({"process": {"user": {"uid": -1}}})", "/process/user/uid",
       "from 0 to 4294967294, not -1"},
      {R"({"process": {"user": {"gid": 4294967295}}})", "/process/user/gid", "not 4294967295"},
      {R"({"process": {"terminal": true, "consoleSize": {"height": 65536, "width": 1}}})",
       "/process/consoleSize/height", "from 0 to 65535, not 65536"},
      {R"({"linux": {"resources": {"network": {"classID": 4294967296}}}})",
       "/linux/resources/network/classID", "from 0 to 4294967295"},
      {R"({"linux": {"resources": {"memory": {"limit": 9223372036854775808}}}})",
       "/linux/resources/memory/limit", "from -1 to 9223372036854775807"},
  };
  check_mistakes(kMistakes);
  std::string text = patched(
      R"({"process": {"rlimits": [{"type": "RLIMIT_CORE", "soft": 18446744073709551615, "hard": 18446744073709551615}]}})");
  BOOST_TEST(parse_config(text, kBundle).config->process->rlimits[0].hard == ~std::uint64_t{0});
  text.replace(text.find("615,"), 3, "616");
  check_one_problem(problems_of(text), {"", "/process/rlimits/0/soft", "not 18446744073709551616"});
}

BOOST_AUTO_TEST_CASE(nul_in_a_string_is_refused) {  // D-8
  constexpr Mistake kMistakes[] = {
      {R"({"root": {"path": "a\u0000b"}})", "/root/path", "contains NUL: \"a\\u0000b\""},
      {R"({"process": {"args": ["sh", "\u0000"]}})", "/process/args/1", "contains NUL"},
      {R"({"process": {"env": ["A=\u0000"]}})", "/process/env/0", "contains NUL"},
      {R"({"process": {"cwd": "/\u0000"}})", "/process/cwd", "contains NUL"},
      {R"({"mounts": [{"destination": "/a", "type": "tmpfs", "options": ["ro\u0000"]}]})",
       "/mounts/0/options/0", "contains NUL"},
      {R"({"hooks": {"poststop": [{"path": "/a\u0000"}]}})", "/hooks/poststop/0/path",
       "contains NUL"},
      {R"({"linux": {"maskedPaths": ["/a\u0000"]}})", "/linux/maskedPaths/0", "contains NUL"},
      {R"({"annotations": {"a\u0000b": "c"}})", "/annotations/a\\u0000b", "must not contain NUL"},
  };
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(long_values_are_cut_in_messages) {
  const std::string value(100000, 'x');
  const auto problems = problems_of(patched(R"({"process": {"cwd": ")" + value + "\"}}"));
  BOOST_TEST_REQUIRE(problems.size() == 1U);
  BOOST_TEST(problems[0].size() < 300U);
  BOOST_TEST(problems[0].contains("(100000 bytes)"));
}

BOOST_AUTO_TEST_SUITE_END()

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
