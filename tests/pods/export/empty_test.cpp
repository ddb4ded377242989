// For every list, object and text of every kind of document, an empty value is as if the member
// were absent: the same problems and warnings, the same exports. The tables have the members of
// which that is not so, and why.

#include <fmt/format.h>
#include <algorithm>

#include <nlohmann/json.hpp>
#include <set>

#include "linux/base/text.hpp"
#include "tests/pods/documents/full.hpp"
#include "tests/pods/export/export_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using Json = nlohmann::ordered_json;

namespace {

struct Member {
  std::string parent, name;
};

void collect_members(const Json& at, const std::string& pointer, std::vector<Member>& out) {
  for (const auto& [key, child] : at.items()) {
    if (!at.is_structured()) return;
    std::string token = key;
    for (std::size_t slash = 0; (slash = token.find('/', slash)) != std::string::npos; slash += 2)
      token.replace(slash, 1, "~1");
    if (at.is_object() && (child.is_string() || child.is_structured()))
      out.push_back({pointer, key});
    collect_members(child, pointer + "/" + token, out);
  }
}

/// What a document does: its problems, without their places, its warnings and its exports.
struct Reading {
  bool is_good = false;
  bool lacks_required = false;
  std::string text;
};

Reading reading_of(const Json& document) {
  Workload workload = read_workload("f", document.dump());
  Reading out{.is_good = workload.problems.empty(), .lacks_required = false, .text = {}};
  for (const std::string& problem : workload.problems)
    out.lacks_required |=
        problem.contains("is missing, it is required") || problem.contains("has an unknown kind");
  for (std::string& warning : workload.warnings) {
    warning.erase(0, warning.find(": "));
    out.text += warning + '\n';
  }
  if (!out.is_good) return out;
  const ExportOptions options{.parameters = {{"p", "v"}, {"cache.host", "h"}},
                              .images = {{"worker", "example.com/worker:1"}},
                              .lossy = true};
  for (const auto to : {export_to_kubernetes, export_to_swarm}) {
    const auto made = export_text(document.dump(), options, to);
    std::string text = made ? made->text : made.error().message();
    for (std::size_t at = 0; (at = text.find(" f:", at)) != std::string::npos;) {
      const std::size_t end = text.find(": ", at);
      text.erase(at, (end == std::string::npos ? text.size() : end) - at);
    }
    out.text += text;
  }
  return out;
}

/// The text without members whose values are empty: an export copies what it does not read.
std::string without_empty(const std::string& text) {
  std::string out;
  for (std::string_view line : linux::split(text, '\n')) {
    line.remove_prefix(std::min(line.find_first_not_of(" -"), line.size()));
    const bool is_empty = line.ends_with(':') || line.ends_with(": []") || line.ends_with(": {}") ||
                          line.ends_with(": \"\"");
    if (!is_empty) out.append(line).append("\n");
  }
  return out;
}

/// Objects whose members are the user's own: "" is a value, {} an object with a name.
bool is_free(const std::string& parent) {
  for (const char* end :
       {"/labels", "/annotations", "/tags", "/userAnnotations", "/userLabels", "/env", "/headers",
        "/data", "/stringData", "/binaryData", "/matchLabels", "/containers", "/initContainers",
        "/volumes", "/volumeMounts", "/ports", "/connections"})
    if (parent.ends_with(end)) return true;
  return false;
}

/// Names of members for which an empty value is given, in all kinds of documents.
const std::set<std::string> kGiven = {
    // A pointer or a union in the API: {} is there, and lacks a required member or is the choice.
    "valueFrom", "livenessProbe", "readinessProbe", "startupProbe", "seccompProfile",
    "appArmorProfile", "emptyDir", "os", "httpGet", "tcpSocket", "exec", "disk", "gpu",
    "manualScaling", "autoScaling", "podPort", "app", "resources",
    // The API refuses "" as a quantity or a number of devices, and as a mode.
    "cpu", "memory", "ephemeral-storage", "sizeLimit", "vendor.com/gpu", "request", "limit", "mode",
    // The name of a port is not empty.
    "port",
    // "" is a value: of a variable, a header, a label or a file.
    "value",
    // What only a cluster reads is copied to it as it stands.
    "affinity", "nodeAffinity", "tolerations", "key", "strategy", "nodeSelector", "gatewayID",
    // A set of no capability or system call is a set; a word of Radius' own is one of its list.
    "set", "resourceProvisioning", "apiVersion", "type", "required"};

/// The members for which empty is something else than absent.
std::string differing(const std::string& full) {
  const Json document = Json::parse(full);
  std::vector<Member> members;
  collect_members(document, "", members);
  std::string out;
  for (const Member& member : members) {
    if (is_free(member.parent) || kGiven.contains(member.name)) continue;
    Json absent = document, empty = document;
    Json& value = empty[Json::json_pointer(member.parent)][member.name];
    value = value.is_string() ? Json("") : value.is_array() ? Json::array() : Json::object();
    absent[Json::json_pointer(member.parent)].erase(member.name);
    const Reading without = reading_of(absent), with_empty = reading_of(empty);
    if (without.lacks_required) continue;
    const bool are_same =
        without.is_good == with_empty.is_good &&
        (!without.is_good || without_empty(without.text) == without_empty(with_empty.text));
    if (!are_same) out += member.parent + "/" + member.name + "\n";
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(an_empty_value)

BOOST_AUTO_TEST_CASE(of_kubernetes_is_an_absent_one) {
  BOOST_TEST(differing(full_kubernetes()) == "");
}
BOOST_AUTO_TEST_CASE(of_knative_is_an_absent_one) { BOOST_TEST(differing(full_knative()) == ""); }
BOOST_AUTO_TEST_CASE(of_radius_is_an_absent_one) { BOOST_TEST(differing(full_radius()) == ""); }
BOOST_AUTO_TEST_CASE(of_the_first_edition_of_radius_is_an_absent_one) {
  BOOST_TEST(differing(full_radius_core()) == "");
}
BOOST_AUTO_TEST_CASE(of_oam_is_an_absent_one) { BOOST_TEST(differing(full_oam()) == ""); }
BOOST_AUTO_TEST_CASE(of_app_container_is_an_absent_one) {
  BOOST_TEST(differing(full_appc()) == "");
}
BOOST_AUTO_TEST_CASE(of_config_maps_and_secrets_is_an_absent_one) {
  BOOST_TEST(differing(full_list()) == "");
}

BOOST_AUTO_TEST_SUITE_END()
