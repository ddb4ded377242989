// Nothing in a document is passed over in silence: every value of five full documents is replaced
// by an odd one, and every object gets an odd member. Each time a problem or a warning has to name
// the place. What each attribute does in a container is shown by integration/pod_effects.bats.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/pods/documents/full.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using Json = nlohmann::ordered_json;

namespace {

/// The JSON pointers of all values below `at`, and of `at`.
void collect(const Json& at, const std::string& pointer, std::vector<std::string>& out) {
  out.push_back(pointer);
  for (const auto& [key, child] : at.items())
    if (at.is_structured()) {
      std::string token = key;
      for (std::size_t slash = 0; (slash = token.find('/', slash)) != std::string::npos; slash += 2)
        token.replace(slash, 1, "~1");
      collect(child, pointer + "/" + token, out);
    }
}

std::vector<std::string> pointers(const Json& document) {
  std::vector<std::string> out;
  collect(document, "", out);
  return out;
}

/// The places of all problems and warnings, each with its sentence.
std::vector<std::pair<std::string, std::string>> told(const Json& document) {
  std::vector<std::pair<std::string, std::string>> out;
  const Workload workload = read_workload("f", document.dump());
  for (const auto* sentences : {&workload.problems, &workload.warnings})
    for (const std::string& sentence : *sentences) {
      const std::size_t begin = sentence.find(": ") + 2;
      const std::size_t end = sentence.find(": ", begin);
      out.emplace_back(sentence.substr(begin, end - begin), sentence.substr(end));
    }
  return out;
}

/// Whether `changed` has a sentence at `pointer`, or one that `document` has not: at the object
/// that lacks something now, or at a value that refers to the changed one.
bool is_told(const Json& document, const Json& changed, const std::string& pointer) {
  const auto before = told(document);
  return std::ranges::any_of(told(changed), [&](const auto& sentence) {
    return sentence.first == pointer || std::ranges::find(before, sentence) == before.end();
  });
}

/// Objects whose names are the user's, so that any member is allowed.
bool is_free(const std::string& pointer) {
  for (const char* end : {"/labels", "/annotations", "/tags", "/userAnnotations", "/userLabels"})
    if (pointer.ends_with(end)) return true;
  return false;
}

bool has_place(const auto& sentences, const std::string& pointer) {
  return std::ranges::any_of(sentences,
                             [&](const auto& sentence) { return sentence.first == pointer; });
}

/// `opaque`: values that only a cluster reads. A warning tells of the whole value.
void walk(const std::string& text, const std::vector<std::string>& opaque = {}) {
  const Json document = Json::parse(text);
  BOOST_TEST(problems(text) == "");
  std::size_t checked = 0;
  for (const std::string& pointer : pointers(document)) {
    const auto is_below = [&](const std::string& above) {
      return pointer.starts_with(above + "/");
    };
    if (std::ranges::any_of(opaque, is_below)) continue;
    const Json::json_pointer place(pointer);
    Json changed = document;
    // An object is odd for a scalar and a list; a number for an object.
    changed[place] = document[place].is_object() ? Json(7) : Json::object({{"odd", 1}});
    BOOST_CHECK_MESSAGE(is_told(document, changed, pointer), pointer << " with an odd value");
    ++checked;
    const bool is_opaque = std::ranges::find(opaque, pointer) != opaque.end();
    if (!document[place].is_object() || is_free(pointer) || is_opaque) continue;
    changed = document;
    changed[place]["oddMember"] = 7;
    BOOST_CHECK_MESSAGE(has_place(told(changed), pointer + "/oddMember"),
                        pointer << " with an odd member");
  }
  BOOST_TEST(checked > 60U);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(walk_over_all_attributes)

BOOST_AUTO_TEST_CASE(of_oam) { walk(full_oam()); }
BOOST_AUTO_TEST_CASE(of_app_container) { walk(full_appc()); }
BOOST_AUTO_TEST_CASE(of_radius) { walk(full_radius()); }
BOOST_AUTO_TEST_CASE(of_the_first_edition_of_radius) {
  walk(full_radius_core(),
       {"/systemData", "/properties/resources", "/properties/runtimes/aci", "/properties/status"});
}
BOOST_AUTO_TEST_CASE(of_knative) { walk(full_knative()); }
BOOST_AUTO_TEST_CASE(of_kubernetes) {
  walk(full_kubernetes(),
       {"/spec/strategy", "/spec/template/spec/affinity", "/spec/template/spec/tolerations"});
}
BOOST_AUTO_TEST_CASE(of_config_maps_and_secrets) { walk(full_list()); }

BOOST_AUTO_TEST_SUITE_END()
