#include "runtime/inspect/rows.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "bundle/json/document.hpp"

using namespace ocirun;
using namespace ocirun::runtime;

namespace {

Inspection sample() {
  Inspection inspection;
  inspection.state.id = "web1";
  inspection.state.status = bundle::Status::kRunning;
  inspection.state.pid = 7;
  inspection.sections = {{"limits",
                          {compared("memory", "64", "64"),
                           compared("pids", "10", "20"),
                           {"score", "", "5", Verdict::kUnasked},
                           {"policy", "bind", "not told", Verdict::kUnknown}}},
                         {"use", {{"CPU", "", "1 s", Verdict::kFact}}}};
  return inspection;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(inspection_rows)

BOOST_AUTO_TEST_CASE(the_text_has_a_mark_for_each_verdict) {
  BOOST_TEST(inspection_text(sample()) ==
             "web1: running, pid 7, drift: 1, not known: 1\n"
             "limits\n"
             "  =        memory  64\n"
             "  ≠ drift  pids    asked 10, found 20\n"
             "  unasked  score   5\n"
             "  ?        policy  asked bind; not told\n"
             "use\n"
             "           CPU  1 s\n");
}

BOOST_AUTO_TEST_CASE(drift_leaves_out_what_is_as_asked_and_empty_sections) {
  BOOST_TEST(inspection_text(drift_of(sample())) ==
             "web1: running, pid 7, drift: 1, not known: 1\n"
             "limits\n"
             "  ≠ drift  pids    asked 10, found 20\n"
             "  ?        policy  asked bind; not told\n");
}

BOOST_AUTO_TEST_CASE(texts_of_a_container_are_escaped) {
  Inspection inspection = sample();
  inspection.sections = {{"processes", {{"process 3", "", "a\n\x1b[31m≠ drift"}}}};
  const std::string text = inspection_text(inspection);
  BOOST_TEST(std::ranges::count(text, '\n') == 3);
  BOOST_TEST(text.find('\x1b') == std::string::npos);
  bundle::Document document;
  bundle::Report report;
  BOOST_TEST(document.parse(inspection_json(inspection), report));
}

BOOST_AUTO_TEST_CASE(json_counts_the_drift_and_leaves_out_what_nobody_asked) {
  const std::string text = inspection_json(sample());
  BOOST_TEST(text.find("\"drift\": 1") != std::string::npos);
  BOOST_TEST(text.find("\"verdict\": \"drift\"") != std::string::npos);
  BOOST_TEST(text.find("\"asked\": \"\"") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
