#include <boost/test/unit_test.hpp>

#include "bundle/documents/state.hpp"
#include "tests/bundle/config/documents.hpp"
#include "tests/must.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(state_document)

namespace {

StateDocument running() {
  return {.oci_version = "1.3.0",
          .id = "web1",
          .status = Status::kRunning,
          .pid = 4711,
          .bundle = "/bundles/web1",
          .rootfs = "/bundles/web1/rootfs",
          .created = "2026-01-02T03:04:05.000000006Z",
          .owner = "",
          .annotations = {{"b", "2\n\"\\"}, {"a", "1"}}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_state_has_the_keys_that_clients_read) {
  BOOST_TEST(state_text(running()) == R"({
  "ociVersion": "1.3.0",
  "id": "web1",
  "pid": 4711,
  "status": "running",
  "bundle": "/bundles/web1",
  "rootfs": "/bundles/web1/rootfs",
  "created": "2026-01-02T03:04:05.000000006Z",
  "annotations": {
    "a": "1",
    "b": "2\n\"\\"
  },
  "owner": ""
}
)");
}

BOOST_AUTO_TEST_CASE(a_stopped_container_has_pid_0_and_absent_annotations_are_left_out) {
  StateDocument state = running();
  state.status = Status::kStopped;
  state.pid = 0;
  state.annotations.clear();
  BOOST_TEST(state_text(state) == R"({
  "ociVersion": "1.3.0",
  "id": "web1",
  "pid": 0,
  "status": "stopped",
  "bundle": "/bundles/web1",
  "rootfs": "/bundles/web1/rootfs",
  "created": "2026-01-02T03:04:05.000000006Z",
  "owner": ""
}
)");
}

BOOST_AUTO_TEST_CASE(a_hook_gets_what_the_specification_names_in_one_line) {  // H-7
  StateDocument state = running();
  BOOST_TEST(hook_state(state) ==
             R"({"ociVersion":"1.3.0","id":"web1","status":"running","pid":4711,)"
             R"("bundle":"/bundles/web1","annotations":{"a":"1","b":"2\n\"\\"}})");
  state.status = Status::kStopped;
  state.pid = 0;
  state.annotations.clear();
  BOOST_TEST(hook_state(state) ==
             R"({"ociVersion":"1.3.0","id":"web1","status":"stopped","bundle":"/bundles/web1"})");
}

BOOST_AUTO_TEST_CASE(the_list_is_one_line) {
  StateDocument second = running();
  second.id = "web2";
  second.owner = "root";
  second.annotations.clear();
  BOOST_TEST(list_text({}) == "[]\n");
  BOOST_TEST(list_text({running(), second}) ==
             R"([{"ociVersion":"1.3.0","id":"web1","pid":4711,"status":"running",)"
             R"("bundle":"/bundles/web1","rootfs":"/bundles/web1/rootfs",)"
             R"("created":"2026-01-02T03:04:05.000000006Z","annotations":{"a":"1","b":"2\n\"\\"},)"
             R"("owner":""},{"ociVersion":"1.3.0","id":"web2","pid":4711,"status":"running",)"
             R"("bundle":"/bundles/web1","rootfs":"/bundles/web1/rootfs",)"
             R"("created":"2026-01-02T03:04:05.000000006Z","owner":"root"}])"
             "\n");
}

BOOST_AUTO_TEST_CASE(pids_are_a_list_of_numbers) {
  BOOST_TEST(pids_text({}) == "[]\n");
  BOOST_TEST(pids_text({711, 1}) == "[711,1]\n");
}

BOOST_AUTO_TEST_CASE(the_seccomp_agent_gets_descriptors_pid_metadata_and_state) {  // S-7
  StateDocument state = running();
  state.status = Status::kCreating;
  state.annotations.clear();
  BOOST_TEST(seccomp_state(state, 4711, "m") ==
             R"({"ociVersion":"1.3.0","fds":["seccompFd"],"pid":4711,"metadata":"m","state":)"
             R"({"ociVersion":"1.3.0","id":"web1","status":"creating","pid":4711,)"
             R"("bundle":"/bundles/web1"}})");
  BOOST_TEST(!seccomp_state(state, 1, "").contains("metadata"));
}

BOOST_AUTO_TEST_CASE(a_log_line_is_one_line_of_valid_json_whatever_the_message) {
  BOOST_TEST(log_line("error", "open \"/a\"\nfailed", "2026-01-02T03:04:05Z") ==
             R"({"level":"error","msg":"open \"/a\"\nfailed","time":"2026-01-02T03:04:05Z"})");
  const std::string_view hostile(
      "\xff\xc0\x80\xed\xa0\x80\xf5\x80\x80\x80\x00\x1f\x7f\xe2\x82\xac\xe2\x82", 18);
  const std::string line = log_line("error", hostile, "t");
  const auto parsed = nlohmann::json::parse(line);
  BOOST_TEST(parsed["msg"].get<std::string>().contains("\xe2\x82\xac"));
  BOOST_TEST(parsed["msg"].get<std::string>().ends_with("\xEF\xBF\xBD\xEF\xBF\xBD"));
  BOOST_TEST(
      (std::ranges::all_of(line, [](char c) { return static_cast<unsigned char>(c) >= 0x20; })));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(descriptors)

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  const StandardStreams streams{"/dev/null", "pipe:[12]", ""};
  BOOST_TEST(descriptors_text(streams) == R"(["/dev/null","pipe:[12]",""])");
  BOOST_TEST((test::must(parse_descriptors(descriptors_text(streams))) == streams));
}

BOOST_AUTO_TEST_CASE(anything_but_three_strings_is_refused) {
  for (const char* text : {"", "{}", "[]", R"(["a","b"])", R"(["a","b","c","d"])", R"(["a","b",3])",
                           R"(["a","b","c"] x)"})
    BOOST_CHECK_MESSAGE(!parse_descriptors(text), text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
