#include "bundle/documents/life.hpp"

#include <array>
#include <chrono>

#include "bundle/config/annotations.hpp"
#include "bundle/documents/hook_runs.hpp"
#include "bundle/documents/state.hpp"
#include "linux/base/file_io.hpp"
#include "tests/bundle/config/documents.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

namespace ocirun::bundle {

namespace {

using test::must;

struct Directory {
  test::Scratch scratch;
  UniqueFd fd = scratch.open();
};

}  // namespace

BOOST_AUTO_TEST_SUITE(life_and_hooks)

BOOST_AUTO_TEST_CASE(a_life_is_read_as_it_was_written_and_told_by_state) {
  const Directory directory;
  BOOST_TEST(must(read_life(directory.fd)).started == "");
  LifeRecord life{.started = "2026-01-02T03:04:05Z",
                  .finished = "2026-01-02T03:04:06Z",
                  .exit_status = 0,
                  .exit_signal = {},
                  .oom_killed = false};
  must(write_life(directory.fd, life));
  life = must(read_life(directory.fd));
  StateDocument state;
  state.life = life;
  const auto told = nlohmann::json::parse(state_text(state));
  BOOST_TEST(told["started"] == "2026-01-02T03:04:05Z");
  BOOST_TEST(told["exitStatus"] == 0);
  BOOST_TEST(!told.contains("exitSignal"));
  BOOST_TEST(told["oomKilled"] == false);
  state.life->oom_killed.reset();
  BOOST_TEST(!nlohmann::json::parse(state_text(state)).contains("oomKilled"));
  BOOST_TEST(!hook_state(state).contains("started"));
}

BOOST_AUTO_TEST_CASE(a_damaged_life_is_an_error) {
  const Directory directory;
  for (const char* text : {"", "{", R"({"format": 1, "exitStatus": 256})", R"({"format": 2})"}) {
    must(linux::replace_file(directory.fd, kLife, text, 0600));
    BOOST_TEST(!read_life(directory.fd), text);
  }
}

BOOST_AUTO_TEST_CASE(the_annotation_is_true_or_false) {
  BOOST_TEST(!must(is_true({}, kRecordExit)));
  BOOST_TEST(!must(is_true({{kRecordExit, "false"}}, kRecordExit)));
  BOOST_TEST(must(is_true({{kRecordExit, "true"}}, kRecordExit)));
  BOOST_TEST(!is_true({{kRecordExit, "1"}}, kRecordExit));
}

BOOST_AUTO_TEST_CASE(hooks_are_appended_and_long_errors_cut) {
  const Directory directory;
  BOOST_TEST(must(read_hook_runs(directory.fd)).empty());
  must(append_hook_runs(directory.fd, {}));
  BOOST_TEST(is_missing(linux::read_file(directory.fd, kHookRuns, 1000, 0)));
  const hooks::HookRun run{.kind = hooks::Kind::kCreateRuntime,
                           .index = 1,
                           .started = "2026-01-02T03:04:05Z",
                           .lasted = std::chrono::milliseconds(12)};
  must(append_hook_runs(directory.fd, std::array{run}));
  hooks::HookRun failed = run;
  failed.kind = hooks::Kind::kPoststart;
  failed.error = "a\n" + std::string(5000, 'x');
  must(append_hook_runs(directory.fd, std::array{failed}));
  const auto runs = must(read_hook_runs(directory.fd));
  BOOST_REQUIRE(runs.size() == 2U);
  BOOST_TEST(runs[0].pointer == "/hooks/createRuntime/1");
  BOOST_TEST(runs[0].lasted == 12U);
  BOOST_TEST(runs[0].error == "");
  BOOST_TEST(runs[1].pointer == "/hooks/poststart/1");
  BOOST_TEST(runs[1].error.size() < 1010U);
  BOOST_TEST(!runs[1].error.contains('\n'));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
