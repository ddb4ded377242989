#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(unknown_names)

namespace {

struct Misspelling {
  std::string_view patch, warning;
};
constexpr Misspelling kMisspellings[] = {
    {R"({"proces": {}})", "/proces: unknown name, ignored (did you mean process?)"},
    {R"({"process": {"argz": []}})", "/process/argz: unknown name, ignored (did you mean args?)"},
    {R"({"linux": {"resources": {"memory": {"limits": 5}}}})",
     "/linux/resources/memory/limits: unknown name, ignored (did you mean limit?)"},
    {R"({"hooks": {"createruntime": []}})",
     "/hooks/createruntime: unknown name, ignored (did you mean createRuntime?)"},
    {R"({"somethingElse": 1})", "/somethingElse: unknown name, ignored"},
    {R"({"linux": {"seccomp": {"defaultAction": "SCMP_ACT_ALLOW",
         "syscalls": [{"names": ["chmodd"], "action": "SCMP_ACT_LOG"}]}}})",
     "/linux/seccomp/syscalls/0/names/0: unknown system call \"chmodd\": ignored"},
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_misspelled_name_is_a_warning_for_who_asks) {  // D-4
  for (const auto& [patch, warning] : kMisspellings) BOOST_TEST_CONTEXT(patch) {
      const Parsed parsed = parse_config(patched(patch), kBundle, UnknownNames::kTold);
      BOOST_TEST(parsed.config.has_value());
      BOOST_TEST(parsed.warnings == std::vector{std::string(warning)},
                 boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(nobody_else_hears_of_it) {  // D-4
  for (const auto& [patch, warning] : kMisspellings) BOOST_TEST_CONTEXT(patch) {
      const Parsed parsed = parse_patched(patch);
      BOOST_TEST(parsed.config.has_value());
      BOOST_TEST(parsed.warnings.empty());
    }
}

BOOST_AUTO_TEST_CASE(names_of_other_platforms_and_older_editions_are_known) {  // P-7, P-22, I-10
  const Parsed parsed =
      parse_config(patched(R"({"process": {"commandLine": "x", "user": {"username": "x"}},
                  "linux": {"intelRdt": {"closID": "a", "enableCMT": true, "enableMBM": false}}})"),
                   kBundle, UnknownNames::kTold);
  BOOST_TEST(parsed.config.has_value());
  BOOST_TEST(parsed.warnings.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
