// Scalars without quotes that YAML 1.1, which kubectl reads, and YAML 1.2 read otherwise: none is
// read in silence as one of the two.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pods/documents/model/yaml_words.hpp"
#include "tests/pods/documents/full.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view kPlace = "@the place@";

void collect_scalars(const Json& at, const std::string& pointer, std::vector<std::string>& out) {
  if (!at.is_structured()) return out.push_back(pointer);
  for (const auto& [key, child] : at.items()) {
    std::string token = key;
    for (std::size_t slash = 0; (slash = token.find('/', slash)) != std::string::npos; slash += 2)
      token.replace(slash, 1, "~1");
    collect_scalars(child, pointer + "/" + token, out);
  }
}

/// The text of `document` in YAML, with `word` without quotes at `pointer`.
std::string with_plain(Json document, const std::string& pointer, std::string_view word) {
  document[Json::json_pointer(pointer)] = kPlace;
  return "# YAML\n" + with(document.dump(), fmt::format("\"{}\"", kPlace), word);
}

/// Whether a problem of `text` is at `pointer`, with the words `wanted`.
bool is_refused(const std::string& text, const std::string& pointer, std::string_view wanted) {
  for (const std::string& sentence : read_workload("f", text).problems)
    if (sentence.contains(": " + pointer + ": ") && sentence.contains(wanted)) return true;
  return false;
}

/// Values that nothing here reads: rows without effect, of a cluster alone.
bool is_unread(const std::string& pointer) {
  for (const char* part :
       {"/timeoutSeconds", "/responseStartTimeoutSeconds", "/idleTimeoutSeconds",
        "/minReadySeconds", "/revisionHistoryLimit", "/progressDeadlineSeconds", "/traffic",
        "/autoScaling/metric", "/automountServiceAccountToken", "/enableServiceLinks"})
    if (pointer.contains(part) && !pointer.contains("Probe")) return true;
  return false;
}

void check_readings(const std::string& full) {
  const Json document = Json::parse(full);
  std::vector<std::string> leaves;
  collect_scalars(document, "", leaves);
  int numbers = 0;
  for (const std::string& pointer : leaves) {
    if (is_unread(pointer)) continue;
    const Json& value = document[Json::json_pointer(pointer)];
    const bool is_mode = pointer.ends_with("Mode") || pointer.ends_with("/mode");
    if (value.is_number() && !is_mode) {
      ++numbers;
      for (const char* word : {"010", "1_0", "0b11"})
        BOOST_CHECK_MESSAGE(is_refused(with_plain(document, pointer, word), pointer, "YAML 1.1"),
                            pointer << ": " << word);
      BOOST_CHECK_MESSAGE(
          is_refused(with_plain(document, pointer, "09"), pointer, "no number in YAML 1.1"),
          pointer);
    } else if (value.is_boolean()) {
      for (const char* word : {"yes", "no"})
        BOOST_CHECK_MESSAGE(
            !is_refused(with_plain(document, pointer, word), pointer, "YAML") &&
                !is_refused(with_plain(document, pointer, word), pointer, "must be true or false"),
            pointer << ": " << word);
    }
  }
  BOOST_TEST(numbers > 3);
}

std::string pod(std::string_view members) {
  return fmt::format(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n"
      "  - {{name: a, image: busybox, {}}}\n",
      members);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(two_yamls)

BOOST_AUTO_TEST_CASE(a_number_of_kubernetes_has_one_reading) { check_readings(full_kubernetes()); }
BOOST_AUTO_TEST_CASE(a_number_of_knative_has_one_reading) { check_readings(full_knative()); }
BOOST_AUTO_TEST_CASE(a_number_of_radius_has_one_reading) {
  check_readings(full_radius());
  check_readings(full_radius_core());
}
BOOST_AUTO_TEST_CASE(a_number_of_oam_has_one_reading) { check_readings(full_oam()); }
BOOST_AUTO_TEST_CASE(a_number_of_app_container_has_one_reading) { check_readings(full_appc()); }

BOOST_AUTO_TEST_CASE(words_have_the_values_that_kubectl_gives) {
  const auto old_value = [](std::string_view word) {
    return yaml_1_1_value(word).value_or("text");
  };
  for (const char* word : {"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True"})
    BOOST_TEST(old_value(word) == "true");
  for (const char* word : {"n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "FALSE"})
    BOOST_TEST(old_value(word) == "false");
  for (const char* word : {"yEs", "oN", "12:30", "2026-11-29", "=", "<<", "~", "null", "", "0x",
                           "0b", "08", "1.2.3", "12h", "1e", "-", "a_1", "0b2", "_1"})
    BOOST_TEST(old_value(word) == "text", word);
  const std::pair<const char*, const char*> numbers[] = {
      {"010", "8"},    {"-010", "-8"},   {"0o17", "15"},    {"0x1F", "31"}, {"0X1f", "31"},
      {"0b101", "5"},  {"-0b1", "-1"},   {"1_000", "1000"}, {"0_10", "8"},  {"+12", "12"},
      {"00", "0"},     {"1e3", "1000"},  {"1.50", "1.5"},   {".5", "0.5"},  {"1_0.5", "10.5"},
      {"0644", "420"}, {".inf", ".inf"}, {"0", "0"},        {"80.0", "80"}};
  for (const auto& [word, wanted] : numbers) BOOST_TEST(old_value(word) == wanted, word);
}

BOOST_AUTO_TEST_CASE(a_leading_zero_is_refused_with_both_readings) {
  BOOST_TEST(
      problems(pod("securityContext: {runAsUser: 010}"))
          .contains("/spec/containers/0/securityContext/runAsUser: 010 is 8 in YAML 1.1, as "
                    "kubectl reads it, and 10 in YAML 1.2: write 8 or 10, whichever is meant"));
  BOOST_TEST(
      problems(pod("ports: [{containerPort: 08080}]"))
          .contains("08080 is no number in YAML 1.1, where a leading 0 is octal, and 8080 in "
                    "YAML 1.2: write 8080"));
  BOOST_TEST(
      problems(pod("resources: {limits: {memory: 0100}}")).contains("0100 is 64 in YAML 1.1"));
  BOOST_TEST(problems(pod("resources: {limits: {vendor.com/gpu: 010}}")).contains("010 is 8"));
  BOOST_TEST(
      problems(pod("ports: [{containerPort: 1_000}]"))
          .ends_with("1_000 is 1000 in YAML 1.1, as kubectl reads it, and the text \"1_000\" in "
                     "YAML 1.2: write 1000\n"));
  // Both read the same.
  BOOST_TEST(good(pod("ports: [{containerPort: 07}]")).containers.at(0).ports.at(0).number == 7);
  BOOST_TEST(good(pod("ports: [{containerPort: 0x1F90}]")).containers.at(0).ports.at(0).number ==
             8080);
  BOOST_TEST(good(pod("ports: [{containerPort: 8.08e3}]")).containers.at(0).ports.at(0).number ==
             8080);
  BOOST_TEST(good(pod("securityContext: {runAsUser: 1.00066e+09}")).containers.at(0).user ==
             "1000660000");
  BOOST_TEST(problems(pod("ports: [{containerPort: 80.5}]")).contains("must be a whole number"));
}

BOOST_AUTO_TEST_CASE(a_mode_with_a_leading_zero_is_octal) {
  for (const char* mode : {"0644", "420", "0o644"}) {
    const Pod read =
        good(pod("volumeMounts: [{name: s, mountPath: /s}]") +
             "  volumes: [{name: s, secret: {secretName: s, defaultMode: " + mode + "}}]\n");
    BOOST_TEST(read.volumes.at(0).file_mode.value_or(0) == 0644U, mode);
  }
}

BOOST_AUTO_TEST_CASE(a_text_that_kubectl_reads_as_a_value_needs_quotes) {
  for (const char* word : {"yes", "off", "y", "1_000", "0b1", "0X1F"}) {
    const std::string text = problems(pod(fmt::format("env: [{{name: A, value: {}}}]", word)));
    BOOST_TEST(text.contains(fmt::format("/value: must be a string: {} is ", word)), text);
    BOOST_TEST(text.contains(fmt::format("write \"{}\" in quotes", word)), text);
    BOOST_TEST(problems(pod(fmt::format("env: [{{name: A, value: \"{}\"}}]", word))) == "");
    BOOST_TEST(problems(pod(fmt::format("args: [{}]", word))).contains("in quotes"));
  }
  for (const char* word : {"12:30", "2026-11-29", "=", "yEs", "1.2.3"})
    BOOST_TEST(problems(pod(fmt::format("env: [{{name: A, value: {}}}]", word))) == "", word);
  const std::string map = "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {";
  BOOST_TEST(
      problems(pod("args: [a]") + map + "a: yes}\n").contains("/data/a: must be a string: yes"));
  BOOST_TEST(
      problems(pod("args: [a]") + map + "on: \"1\"}\n")
          .contains("the name without quotes is \"true\" in YAML 1.1, as kubectl reads it, and "
                    "\"on\" in YAML 1.2: write it in quotes"));
  BOOST_TEST(problems(pod("args: [a]") + map + "1.10: x}\n").contains("is \"1.1\" in YAML 1.1"));
  BOOST_TEST(problems(pod("args: [a]") + map + "\"on\": x, 8080: z}\n") == "");
}

BOOST_AUTO_TEST_CASE(a_member_that_is_off_asks_for_nothing) {
  for (const char* word : {"false", "off", "no", "n"})
    BOOST_TEST(problems(pod(fmt::format("securityContext: {{privileged: {}}}", word))) == "", word);
  for (const char* word : {"true", "on", "yes", "\"off\""})
    BOOST_TEST(problems(pod(fmt::format("securityContext: {{privileged: {}}}", word)))
                   .contains("/privileged: is not supported"),
               word);
}

BOOST_AUTO_TEST_CASE(a_byte_order_mark_may_stand_before_each_document) {
  const std::string first = pod("args: [a]");
  const std::string second = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
  for (const char* between : {"---\n\uFEFF", "\uFEFF---\n", "---\n# of Windows\n\uFEFF",
                              "...\n\uFEFF---\n", "\uFEFF---\r\n\uFEFF"})
    BOOST_TEST(problems("\uFEFF" + first + between + second) == "", between);
  BOOST_TEST(problems("\uFEFF---\n" + first) == "");
  // Within a document it is a character.
  BOOST_TEST(good(pod("args: [\"\uFEFFa\"]")).containers.at(0).args.value().at(0) == "\uFEFFa");
}

BOOST_AUTO_TEST_SUITE_END()
