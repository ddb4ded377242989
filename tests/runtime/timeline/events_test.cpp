#include "runtime/timeline/events.hpp"

#include <boost/test/unit_test.hpp>

#include "bundle/json/writer.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

const char kFile[] = R"({"traceEvents": [
  {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "ocirun run <web>"}},
  {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "ocirun"}},
  {"ph": "X", "cat": "step", "name": "serve init", "pid": 1, "tid": 1, "ts": 100, "dur": 900.5,
   "args": {"page faults": 12}},
  {"ph": "X", "cat": "step", "name": "read", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
  {"ph": "X", "cat": "wait", "name": "for init", "pid": 1, "tid": 1, "ts": 200.5, "dur": 300},
  {"ph": "B", "name": "not ours", "pid": 1, "tid": 1, "ts": 5},
  {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "init\u001b"}},
  {"ph": "X", "cat": "step", "name": "make a mount", "pid": 1, "tid": 2, "ts": 150, "dur": 250,
   "args": {"object": "/mounts/1"}},
  {"ph": "X", "cat": "step", "name": "make a mount", "pid": 1, "tid": 2, "ts": 400, "dur": 50,
   "args": {"object": "/mounts/2 &\u001b"}}]})";

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string line_with(const std::string& text, std::string_view part) {
  const std::size_t place = text.find(part);
  if (place == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', place) + 1;
  return text.substr(begin, text.find('\n', place) - begin);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(timeline_events)

BOOST_AUTO_TEST_CASE(events_are_sorted_and_nested_by_lane) {
  const Timeline read = must(read_timeline(kFile));
  BOOST_TEST(read.title == "ocirun run <web>");
  BOOST_REQUIRE(read.events.size() == 5);
  BOOST_TEST(read.events[0].name == "read");
  BOOST_TEST(read.events[1].name == "serve init");
  BOOST_TEST(read.events[1].begin == 100'000);
  BOOST_TEST(read.events[1].length == 900'500);
  BOOST_TEST(read.events[1].faults == 12);
  BOOST_TEST(read.events[1].depth == 0);
  BOOST_TEST(read.events[2].depth == 1);
  BOOST_TEST(read.events[3].lane == "init\x1b");
  BOOST_TEST(read.events[3].depth == 0);
  BOOST_TEST(read.length() == 1'000'500);
}

BOOST_AUTO_TEST_CASE(a_table_has_a_row_for_each_event) {
  const std::string table = timeline_table(must(read_timeline(kFile)));
  BOOST_TEST(has(line_with(table, "serve init"), "0.90"));
  BOOST_TEST(has(line_with(table, "serve init"), "90 %"));
  BOOST_TEST(has(line_with(table, "serve init"), "12"));
  BOOST_TEST(has(line_with(table, "for init"), "  for init"));
  BOOST_TEST(!has(line_with(table, "for init"), "%"));
  BOOST_TEST(has(line_with(table, "/mounts/1"), "init"));
  BOOST_TEST(!has(table, "\x1b"));
  BOOST_TEST(table.ends_with("ocirun run <web>: 1.00 ms\n"));
}

BOOST_AUTO_TEST_CASE(a_comparison_has_the_steps_of_both) {
  Timeline before = must(read_timeline(kFile)), after = before;
  std::erase_if(after.events, [](const Event& event) { return event.name == "read"; });
  after.events.push_back({.lane = "init",
                          .category = "step",
                          .name = "new",
                          .object = "",
                          .begin = 1'000'000,
                          .length = 2'000'000});
  const std::string table = timeline_comparison(before, after);
  BOOST_TEST(has(line_with(table, "read"), "-0.10"));
  BOOST_TEST(has(line_with(table, "new"), " 2.00"));
  BOOST_TEST(line_with(table, "serve init").ends_with(" 0.00"));
  BOOST_TEST(!has(table, "for init"));
  BOOST_TEST(has(line_with(table, "in all"), " 2.00"));
}

BOOST_AUTO_TEST_CASE(a_picture_is_well_formed_and_escapes_names) {
  const std::string svg = timeline_picture(must(read_timeline(kFile)));
  BOOST_TEST(svg.starts_with("<svg "));
  BOOST_TEST(svg.ends_with("</svg>\n"));
  BOOST_TEST(has(svg, "ocirun run &lt;web&gt;: 1.00 ms"));
  BOOST_TEST(has(svg, "make a mount /mounts/2 &amp;"));
  BOOST_TEST(!has(svg, "\x1b"));
  BOOST_TEST(!has(svg, "nan"));
}

BOOST_AUTO_TEST_CASE(a_step_of_no_length_is_not_within_the_step_before) {
  const Timeline read = must(read_timeline(
      R"([{"ph": "X", "name": "a", "ts": 5, "dur": 10}, {"ph": "X", "name": "b", "ts": 15}])"));
  BOOST_TEST(read.events[0].begin == 0);
  BOOST_TEST(read.events[1].depth == 0);
}

BOOST_AUTO_TEST_CASE(texts_are_cut_between_letters) {
  std::string letters;
  for (int i = 0; i < 40; ++i) letters += "\u00e4";
  const std::string cut = fitted(letters, 20);
  BOOST_TEST(cut.size() <= 20);
  BOOST_TEST(bundle::is_utf8(cut));
  BOOST_TEST(has(cut, "..."));
  BOOST_TEST(fitted("short", 20) == "short");
  BOOST_TEST(fitted("/a/long/path/whose/end/tells/more", 20) == "/a/long/...lls/more");
}

BOOST_AUTO_TEST_CASE(lost_entries_are_told_and_too_many_events_are_refused) {
  const Timeline read = must(read_timeline(R"({"traceEvents": [], "lostEntries": 7})"));
  BOOST_TEST(has(timeline_table(read), "7 entries are missing"));
  std::string many = "[{\"ph\": \"X\"}";
  for (std::size_t i = 0; i < kMostEvents; ++i) many += ",{\"ph\": \"X\"}";
  BOOST_TEST(must_fail(read_timeline(many + "]")) == "more than 100000 events");
}

BOOST_AUTO_TEST_CASE(an_empty_timeline_has_a_table_and_a_picture) {
  const Timeline read = must(read_timeline("[]"));
  BOOST_TEST(read.length() == 0);
  BOOST_TEST(has(timeline_table(read), "lane"));
  BOOST_TEST(has(timeline_comparison(read, read), "in all"));
  BOOST_TEST(!has(timeline_picture(read), "nan"));
}

BOOST_AUTO_TEST_CASE(other_documents_are_refused_by_place) {
  BOOST_TEST(must_fail(read_timeline("{}")) ==
             "/traceEvents: must be an array of Chrome's trace events");
  BOOST_TEST(has(must_fail(read_timeline("{\"traceEvents\": 1}")), "/traceEvents"));
  BOOST_TEST(has(must_fail(read_timeline("{")), "line 1"));
  BOOST_TEST(must(read_timeline("[1, {\"ph\": \"X\", \"ts\": -5, \"dur\": \"x\"}]")).length() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
