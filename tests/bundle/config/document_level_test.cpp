#include <csignal>

#include "bundle/config/annotations.hpp"
#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(document_level)

BOOST_AUTO_TEST_CASE(versions_that_are_accepted) {  // D-10
  for (const char* version : {"1.0.0", "1.0.2-dev", "1.1.0", "1.2.1", "1.3.0", "1.3.7", "1.3.0+dev",
                              "1.0.0-rc5", "1.0.0-rc.1+build.01"}) {
    const Parsed parsed = parse_patched(fmt::format(R"({{"ociVersion": "{}"}})", version));
    BOOST_TEST_CONTEXT(version) {
      BOOST_TEST_REQUIRE(parsed.config.has_value());
      BOOST_TEST(parsed.warnings.empty());
      BOOST_TEST((parsed.config->edition == Edition::kCurrent));
      BOOST_TEST(parsed.config->oci_version == version);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_newer_minor_version_is_accepted_with_a_warning) {  // D-10
  const Parsed parsed = parse_patched(R"({"ociVersion": "1.4.0-rc.1"})");
  BOOST_TEST(parsed.config.has_value());
  BOOST_TEST_REQUIRE(parsed.warnings.size() == 1U);
  BOOST_TEST(parsed.warnings[0].starts_with("/ociVersion: \"1.4.0-rc.1\" is newer than 1.3.0"));
}

BOOST_AUTO_TEST_CASE(versions_that_are_refused) {  // D-10, SD-1
  for (const char* version :
       {"", "invalid", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0+",
        "1.0.0-a..b", " 1.0.0", "1.0.0 ", "v1.0.0", "-1.0.0", "99999999999999999999.0.0"})
    check_one_problem(parse_patched(fmt::format(R"({{"ociVersion": "{}"}})", version)).problems,
                      {"", "/ociVersion", "is not a version of the form 1.2.3"});
  for (const char* version : {"2.0.0", "0.4.0", "0.7.0", "0.0.1"})
    check_one_problem(parse_patched(fmt::format(R"({{"ociVersion": "{}"}})", version)).problems,
                      {"", "/ociVersion", "unsupported version"});
  check_one_problem(parse_patched(R"({"ociVersion": null})").problems,
                    {"", "/ociVersion", "is missing"});
}

BOOST_AUTO_TEST_CASE(root_is_required_and_joined_to_the_bundle) {  // T-1, T-2, T-3
  constexpr Mistake kMistakes[] = {
      {R"({"root": null})", "/root", "is missing, it is required"},
      {R"({"root": {"path": null}})", "/root/path", "is missing, it is required"},
      {R"({"root": {"path": ""}})", "/root/path", "must not be empty"},
  };
  check_mistakes(kMistakes);
  BOOST_TEST(config_of("{}").root_path.string() == "/bundles/web1/rootfs");
  BOOST_TEST(config_of("{}").root_readonly);
  BOOST_TEST(config_of(R"({"root": {"path": "."}})").root_path.string() == "/bundles/web1");
  BOOST_TEST(config_of(R"({"root": {"path": ".//a/./b/"}})").root_path.string() ==
             "/bundles/web1/a/b");
  BOOST_TEST(config_of(R"({"root": {"path": "../x"}})").root_path.string() == "/bundles/web1/../x");
  BOOST_TEST(config_of(R"({"root": {"path": "/srv/root"}})").root_path.string() == "/srv/root");
  BOOST_TEST(config_of(R"({"root": {"path": "/"}})").root_path.string() == "/");
}

BOOST_AUTO_TEST_CASE(names_of_the_host_need_a_uts_namespace) {  // T-4, T-5
  constexpr std::string_view kNoUts = R"({"hostname": "h", "domainname": "d",
    "linux": {"namespaces": [{"type": "mount"}]}})";
  const Parsed parsed = parse_patched(kNoUts);
  BOOST_TEST_REQUIRE(parsed.problems.size() == 2U);
  BOOST_TEST(parsed.problems[0] ==
             "/hostname: needs a uts namespace: add {\"type\": \"uts\"} to /linux/namespaces");
  BOOST_TEST(parsed.problems[1].starts_with("/domainname: needs a uts namespace"));
  const std::string long_name(65, 'a');
  check_one_problem(parse_patched(R"({"hostname": ")" + long_name + "\"}").problems,
                    {"", "/hostname", "has 65 bytes, at most 64"});
  const Config config = config_of(R"({"hostname": "h", "domainname": "d",
    "linux": {"namespaces": [{"type": "uts", "path": "/run/uts/other"}, {"type": "mount"}]}})");
  BOOST_TEST(config.hostname == "h");
  BOOST_TEST(config.domainname == "d");
}

BOOST_AUTO_TEST_CASE(a_document_without_any_namespaces_parses_but_is_not_run) {  // T-4, L-29
  Parsed parsed = parse_patched(R"({"linux": null})");
  BOOST_TEST(parsed.config.has_value());
  BOOST_TEST_REQUIRE(parsed.refusals.size() == 1U);
  const auto config = std::move(parsed).take();
  BOOST_TEST_REQUIRE(!config.has_value());
  BOOST_TEST(config.error().message().starts_with("config.json: /hostname: needs a uts namespace"));
}

BOOST_AUTO_TEST_CASE(annotations_have_names_and_are_strings) {  // T-6, AN-1
  constexpr Mistake kMistakes[] = {
      {R"({"annotations": {"": "x"}})", "/annotations/", "must not be empty"},
      {R"({"annotations": {"k": true}})", "/annotations/k", "must be a string, not true"},
      {R"({"annotations": []})", "/annotations", "must be an object"},
  };
  check_mistakes(kMistakes);
  const Config config = config_of(
      R"({"annotations": {"org.opencontainers.unknown": "", "a=b": "c", "bundle": "x"}})");
  BOOST_TEST(config.annotations.size() == 3U);
  BOOST_TEST(config.annotations.at("a=b") == "c");
}

Parsed parse_annotation(std::string_view name, std::string_view value) {
  return parse_patched(fmt::format(R"({{"annotations": {{"{}": "{}"}}}})", name, value));
}

void check_warning(std::string_view name, std::string_view value) {
  const Parsed parsed = parse_annotation(name, value);
  BOOST_TEST(parsed.config.has_value(), name << " = " << value);
  BOOST_REQUIRE(parsed.warnings.size() == 1U);
  BOOST_TEST(parsed.warnings.front().starts_with(fmt::format("/annotations/{}: ", name)));
}

void check_silence(std::string_view name, std::string_view value) {
  const Parsed parsed = parse_annotation(name, value);
  BOOST_TEST(parsed.config.has_value(), name << " = " << value);
  BOOST_TEST(parsed.warnings.empty(), name << " = " << value);
}

BOOST_AUTO_TEST_CASE(the_stop_signal_of_the_image_is_obeyed_or_warned_about) {  // T-7
  for (const char* signal :
       {"", "SIGTERM", "term", "9", "64", "RTMIN+3", "SIGRTMAX", "IOT", "SIGIO", "CLD"})
    check_silence(kStopSignal, signal);
  for (const char* signal : {"SIGNOPE", "0", "65", "-9", "9x", "RTMIN+99", "SIGRTMINx", " "})
    check_warning(kStopSignal, signal);
  BOOST_TEST(
      (stop_signal(parse_annotation(kStopSignal, "SIGQUIT").config->annotations) == SIGQUIT));
  for (const char* signal : {"", "SIGNOPE", "0"})
    BOOST_TEST(!stop_signal(parse_annotation(kStopSignal, signal).config->annotations));
}

BOOST_AUTO_TEST_CASE(an_image_for_another_system_is_warned_about) {  // T-8
  check_warning(kImageSystem, "windows");
  check_silence(kImageSystem, "linux");
  check_silence(kImageSystem, "");
}

BOOST_AUTO_TEST_CASE(a_relative_path_for_criu_is_warned_about) {
  check_warning(kCriuConfig, "criu.conf");
  check_silence(kCriuConfig, "/etc/criu/web.conf");
  check_silence(kCriuConfig, "");  // no file
}

BOOST_AUTO_TEST_CASE(a_virtual_machine_is_refused_and_other_platforms_are_warned_about) {  // T-10
  constexpr Mistake kMistakes[] = {{R"({"vm": {}})", "/vm", "asks for a virtual machine"}};
  check_mistakes(kMistakes);
  const Parsed parsed =
      parse_patched(R"({"windows": {}, "solaris": {}, "zos": {}, "freebsd": {"jail": 7}})");
  BOOST_TEST(parsed.config.has_value());
  BOOST_TEST(parsed.warnings.size() == 4U);
}

BOOST_AUTO_TEST_CASE(every_problem_is_reported_in_one_go) {
  Parsed parsed = parse_patched(R"({
    "ociVersion": "9.0.0", "hostname": 5, "process": {"cwd": "tmp", "args": []},
    "linux": {"maskedPaths": ["proc"], "seccomp": {"defaultAction": "SCMP_ACT_ALOW"}}})");
  std::vector<std::string> pointers;
  for (const std::string& problem : parsed.problems)
    pointers.push_back(problem.substr(0, problem.find(": ")));
  std::ranges::sort(pointers);
  const std::vector<std::string> expected{
      "/hostname",   "/linux/maskedPaths/0", "/linux/seccomp/defaultAction",
      "/ociVersion", "/process/args",        "/process/cwd"};
  BOOST_TEST(pointers == expected, boost::test_tools::per_element());
  const auto message = std::move(parsed).take().error().message();
  BOOST_TEST(message.starts_with("config.json: /ociVersion: unsupported version \"9.0.0\""),
             message);
  BOOST_TEST(message.ends_with("(5 more: ocirun validate /bundles/web1)"), message);
}

BOOST_AUTO_TEST_CASE(config_json_is_read_from_the_bundle) {  // D-1
  const auto missing = read_config_file(HostPath(OCIRUN_TEST_DATA));
  BOOST_TEST_REQUIRE(!missing.has_value());
  BOOST_TEST(missing.error().message() ==
             std::string("config.json not found in ") + OCIRUN_TEST_DATA);
  BOOST_TEST(!read_config_file(HostPath("/no/such/bundle")).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
