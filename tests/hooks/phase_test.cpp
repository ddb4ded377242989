#include "hooks/run_hook.hpp"

#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::hooks;
using namespace ocirun::test;

namespace {

/// Makes hooks that write their name into a file and end with a chosen exit status.
class Diary {
 public:
  Hook writing(const std::string& name, int status = 0) const {
    Hook hook;
    hook.path = HostPath(scratch_.script(name, "echo " + name + " >>" + file() + "; echo said by " +
                                                   name + "; exit " + std::to_string(status)));
    return hook;
  }
  std::string text() const { return slurp(file()); }
  std::string path_of(const std::string& name) const { return scratch_ / name; }
  Context context(std::vector<std::string>* warnings = nullptr) const {
    Context result{.state = "{}", .directory = HostPath("/"), .default_env = {}, .warn = {}};
    if (warnings != nullptr)
      result.warn = [warnings](std::string_view warning) { warnings->emplace_back(warning); };
    return result;
  }

 private:
  std::string file() const { return scratch_ / "diary"; }
  Scratch scratch_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(phase)

BOOST_AUTO_TEST_CASE(the_six_kinds_have_the_names_of_config_json_in_their_order) {  // H-1
  const std::vector<std::string> expected{"prestart",       "createRuntime", "createContainer",
                                          "startContainer", "poststart",     "poststop"};
  std::vector<std::string> names;
  for (const Kind kind : kKinds) names.emplace_back(config_name(kind));
  BOOST_TEST(names == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(only_poststop_goes_on_after_a_failure) {  // H-11, H-12, H-13
  for (const Kind kind : kKinds)
    BOOST_TEST((failure_rule(kind) == FailureRule::kContinue) == (kind == Kind::kPoststop));
}

BOOST_AUTO_TEST_CASE(each_kind_has_a_list_of_its_own) {
  Hooks hooks;
  const Diary diary;
  for (const Kind kind : kKinds)
    hooks.of(kind).push_back(diary.writing(std::string(config_name(kind))));
  for (const Kind kind : kKinds) BOOST_TEST(hooks.of(kind).size() == 1u);
  must(run_phase(hooks, Kind::kPoststart, FailureRule::kAbort, diary.context()));
  BOOST_TEST(diary.text() == "poststart\n");
}

BOOST_AUTO_TEST_CASE(hooks_run_in_their_order_one_after_the_other) {  // H-6
  const Diary diary;
  Hooks hooks;
  Hook slow = diary.writing("a");
  hooks.of(Kind::kPrestart) = {slow, diary.writing("b"), slow, diary.writing("c")};
  must(run_phase(hooks, Kind::kPrestart, FailureRule::kAbort, diary.context()));
  BOOST_TEST(diary.text() == "a\nb\na\nc\n");
}

BOOST_AUTO_TEST_CASE(a_kind_without_hooks_does_nothing) {
  const Diary diary;
  for (const Kind kind : kKinds)
    BOOST_TEST(run_phase(Hooks{}, kind, failure_rule(kind), diary.context()).has_value());
}

BOOST_AUTO_TEST_CASE(
    the_first_failure_ends_the_phase_and_names_kind_index_path_and_output) {  // H-11
  for (const Kind kind : {Kind::kPrestart, Kind::kCreateRuntime, Kind::kCreateContainer,
                          Kind::kStartContainer, Kind::kPoststart}) {
    const Diary diary;
    Hooks hooks;
    hooks.of(kind) = {diary.writing("first"), diary.writing("second", 3), diary.writing("third")};
    std::vector<std::string> warnings;
    const auto outcome = run_phase(hooks, kind, failure_rule(kind), diary.context(&warnings));
    BOOST_REQUIRE(!outcome);
    BOOST_TEST(outcome.error().message() == "error running " + std::string(config_name(kind)) +
                                                " hook #1 (" + diary.path_of("second") +
                                                "): exit status 3: said by second");
    BOOST_TEST(diary.text() == "first\nsecond\n");
    BOOST_TEST(warnings.empty());
  }
}

BOOST_AUTO_TEST_CASE(failing_poststop_hooks_are_warnings_and_the_rest_still_run) {  // H-13, LC-13
  const Diary diary;
  Hooks hooks;
  Hook missing;
  missing.path = HostPath("/no/such/hook");
  hooks.of(Kind::kPoststop) = {diary.writing("first", 1), missing, diary.writing("third", 2),
                               diary.writing("fourth")};
  std::vector<std::string> warnings;
  BOOST_TEST(
      run_phase(hooks, Kind::kPoststop, failure_rule(Kind::kPoststop), diary.context(&warnings))
          .has_value());
  BOOST_TEST(diary.text() == "first\nthird\nfourth\n");
  BOOST_REQUIRE(warnings.size() == 3u);
  BOOST_TEST(warnings[0] == "error running poststop hook #0 (" + diary.path_of("first") +
                                "): exit status 1: said by first");
  BOOST_TEST(warnings[1].starts_with("error running poststop hook #1 (/no/such/hook): "));
  BOOST_TEST(warnings[1].ends_with("no such file or directory"));
  BOOST_TEST(warnings[2].find("#2") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_hook_without_timeout_is_told_of_every_ten_seconds_by_kind_number_and_path,
                     *boost::unit_test::label("slow")) {
  const Diary diary;
  const Scratch scratch;
  Hooks hooks;
  Hook lasting;
  const std::string told = scratch / "told";
  lasting.path = HostPath(scratch.script("h", "until [ -e " + told + " ]; do sleep 0.1; done"));
  hooks.of(Kind::kCreateContainer) = {diary.writing("first"), lasting};
  std::vector<std::string> warnings;
  Context around = diary.context();
  around.warn = [&](std::string_view warning) {
    warnings.emplace_back(warning);
    scratch.file("told", "");
  };
  must(run_phase(hooks, Kind::kCreateContainer, FailureRule::kAbort, around));
  BOOST_REQUIRE(!warnings.empty());
  BOOST_TEST(warnings[0] == "createContainer hook #1 (" + scratch / "h" +
                                ") has no timeout, and has run for 10 s already");
}

BOOST_AUTO_TEST_CASE(nobody_needs_to_listen_to_warnings) {
  const Diary diary;
  Hooks hooks;
  hooks.of(Kind::kPoststop) = {diary.writing("a", 1), diary.writing("b")};
  must(run_phase(hooks, Kind::kPoststop, FailureRule::kContinue, diary.context()));
  BOOST_TEST(diary.text() == "a\nb\n");
}

BOOST_AUTO_TEST_CASE(poststart_of_an_old_document_goes_on_when_it_is_told_to) {  // SD-15
  const Diary diary;
  Hooks hooks;
  hooks.of(Kind::kPoststart) = {diary.writing("a", 1), diary.writing("b")};
  std::vector<std::string> warnings;
  must(run_phase(hooks, Kind::kPoststart, FailureRule::kContinue, diary.context(&warnings)));
  BOOST_TEST(diary.text() == "a\nb\n");
  BOOST_TEST(warnings.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_failure_of_a_hook_is_known_by_its_error) {
  const Diary diary;
  Hooks hooks;
  Hook hook;
  hook.path = HostPath("/no/such/hook");
  hooks.of(Kind::kStartContainer) = {hook};
  const auto outcome =
      run_phase(hooks, Kind::kStartContainer, FailureRule::kAbort, diary.context());
  BOOST_REQUIRE(!outcome);
  BOOST_TEST(is_hook_failure(outcome.error()));
  BOOST_TEST(!is_hook_failure(Error(ENOENT, "execute /bin/sh")));
}

BOOST_AUTO_TEST_CASE(a_hook_that_is_killed_by_its_timeout_fails_the_phase) {  // H-5
  const Scratch scratch;
  Hooks hooks;
  Hook hook;
  hook.path = HostPath(scratch.script("h", "echo waiting; sleep 983"));
  hook.timeout = std::chrono::seconds(3);
  hooks.of(Kind::kCreateRuntime) = {hook};
  const Diary diary;
  BOOST_TEST(
      must_fail(run_phase(hooks, Kind::kCreateRuntime, FailureRule::kAbort, diary.context())) ==
      "error running createRuntime hook #0 (" + scratch.path() +
          "/h): timed out after 3 s: waiting");
}

BOOST_AUTO_TEST_SUITE_END()
