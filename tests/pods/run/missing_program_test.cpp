#include "pods/run/runtime.hpp"

#include <boost/test/unit_test.hpp>

#include "bundle/json/document.hpp"
#include "bundle/json/report.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

std::string pointer(const char* text, const char* program) {
  bundle::Document document;
  bundle::Report report;
  BOOST_REQUIRE(document.parse(text, report));
  Container container;
  container.place = document.root();
  container.image_place = document.root()->find("image");
  const Place place = place_of_program(container, program);
  return place == nullptr ? "" : bundle::pointer_to(*place);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(missing_programs)

BOOST_AUTO_TEST_CASE(the_words_of_the_runtimes_are_told_apart) {
  for (const char* said :
       {"ocirun: create x: exec: \"/bin/none\": stat /bin/none: no such file or directory",
        "level=error msg=\"exec: \\\"none\\\": executable file not found in $PATH\"",
        "executable file `none` not found: No such file or directory"})
    BOOST_TEST((status_of_missing_program(said) == 127), said);
  for (const char* said : {"ocirun: create x: exec: \"/etc\": permission denied",
                           "open executable: Permission denied"})
    BOOST_TEST((status_of_missing_program(said) == 126), said);
  for (const char* said : {"", "mount /data: open /srv/x: no such file or directory"})
    BOOST_TEST((status_of_missing_program(said) == std::nullopt), said);
}

BOOST_AUTO_TEST_CASE(the_place_is_that_of_the_word_in_each_kind_of_document) {
  BOOST_TEST(pointer(R"({"command": ["a", "b"], "args": ["c"], "image": "i"})", "a") ==
             "/command/0");
  BOOST_TEST(pointer(R"({"cmd": ["a"], "image": "i"})", "a") == "/cmd/0");
  BOOST_TEST(pointer(R"({"app": {"exec": ["a"]}, "image": {}})", "a") == "/app/exec/0");
  BOOST_TEST(pointer(R"({"process": {"args": ["a"]}})", "a") == "/process/args/0");
  BOOST_TEST(pointer(R"({"args": ["a"], "image": "i"})", "a") == "/args/0");
  BOOST_TEST(pointer(R"({"args": ["a"], "image": "i"})", "of the image") == "/image");
  BOOST_TEST(pointer(R"({"image": "i"})", "of the image") == "/image");
  BOOST_TEST(pointer("{}", "a") == "");
}

BOOST_AUTO_TEST_CASE(a_container_that_was_killed_before_its_start_gives_no_status) {
  PodRecord record;
  record.containers.resize(2);
  BOOST_TEST(failure_status(record) == 1);
  record.containers[0].exit_code = 137;
  BOOST_TEST(failure_status(record) == 1);
  record.containers[1].exit_code = 126;
  BOOST_TEST(failure_status(record) == 126);
  record.containers[1].started_at = "2026-11-27T00:00:00Z";
  BOOST_TEST(failure_status(record) == 1);
}

BOOST_AUTO_TEST_SUITE_END()
