// Nothing in a document is lost on its way to another engine: each value of the five full documents
// is replaced by another one. The output must change, or a problem or a warning must tell it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/pods/documents/full.hpp"
#include "tests/pods/export/export_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using Json = nlohmann::ordered_json;
using Target = Result<Exported> (*)(const ExportRequest&);

namespace {

ExportOptions options_for_all() {
  return {.parameters = {{"p", "v"}, {"cache.host", "h"}},
          .images = {{"worker", "example.com/worker:1"}},
          .lossy = true};
}

void collect_leaves(const Json& at, const std::string& pointer, std::vector<std::string>& out) {
  if (!at.is_structured() || at.empty()) return out.push_back(pointer);
  for (const auto& [key, child] : at.items()) {
    std::string token = key;
    for (std::size_t slash = 0; (slash = token.find('/', slash)) != std::string::npos; slash += 2)
      token.replace(slash, 1, "~1");
    collect_leaves(child, pointer + "/" + token, out);
  }
}

/// Other values, of which one at least should be allowed in the place of `value`. "" is as
/// if it were absent (empty_test.cpp): it stands only where it is the one other value.
std::vector<Json> others(const Json& value) {
  static const std::set<std::string> kWords = {
      "TCP",           "UDP",       "tcp",    "udp",    "RW",    "RO",     "Exclusive",
      "Shared",        "HTTP",      "HTTPS",  "host",   "empty", "Memory", "RuntimeDefault",
      "Localhost",     "0700",      "1G",     "2G",     "64Mi",  "100m",   "cpu",
      "CAP_CHOWN",     "CAP_KILL",  "EPERM",  "ENOSYS", "read",  "8",      "data2",
      "example.com/x", "127.0.0.1", "0.8.10", "1777",   "0755",  "http1",  "h2c",
      "Always",        "Never",     "disk"};
  if (value.is_boolean()) return {!value.get<bool>()};
  if (value.is_number())
    return {value.get<double>() + 1, value.get<int>() + 1, value.get<int>() - 1};
  if (!value.is_string()) return {Json::object({{"odd", 1}}), Json::array({"odd"})};
  const auto text = value.get<std::string>();
  std::vector<Json> all = {text + "x", text + "/x", "x" + text, text + "1"};
  for (const std::string& word : kWords)
    if (word != text) all.emplace_back(word);
  if (text == "Memory" || text == "Directory") all.emplace_back("");
  return all;
}

struct Outcome {
  bool is_read = false;
  std::string text;               // of the output, with the notes, or the error
  std::vector<std::string> told;  // warnings
};

Outcome outcome(const Json& document, Target to) {
  Workload workload = read_workload("f", document.dump());
  Outcome out{.is_read = workload.problems.empty(),
              .text = {},
              .told = to == export_to_swarm ? workload.swarm_warnings : workload.export_warnings};
  if (!out.is_read) return out;
  const auto made = export_workload(std::move(workload), options_for_all(), to);
  out.text = made ? made->text + lines(made->notes) : made.error().message();
  if (made)
    for (const auto& [name, content] : made->files) out.text += name + content;
  return out;
}

/// Whether a warning is about the value at `pointer`, or about one around it.
bool is_warned_of(const Outcome& outcome, const std::string& pointer) {
  return std::ranges::any_of(outcome.told, [&](const std::string& sentence) {
    const std::size_t begin = sentence.find(": ") + 2;
    const std::string place = sentence.substr(begin, sentence.find(": ", begin) - begin);
    return pointer == place || pointer.starts_with(place + "/");
  });
}

/// The comments of the output about what differs.
std::vector<std::string> losses_of(std::string_view text) {
  constexpr std::string_view kLoss = "# Differs: ";
  std::vector<std::string> losses;
  for (std::size_t at = 0; (at = text.find(kLoss, at)) != std::string_view::npos;) {
    at += kLoss.size();
    losses.emplace_back(text.substr(at, text.find('\n', at) - at));
  }
  return losses;
}

/// The places in the output and in its comments move when a value gets longer: only what is said.
std::string without_places(std::string text) {
  for (std::size_t at = 0; (at = text.find(" f:", at)) != std::string::npos;) {
    const std::size_t end = text.find(": ", at);
    text.erase(at, (end == std::string::npos ? text.size() : end) - at);
  }
  return text;
}

/// Replaces all leaves that are `from`, so that a name and the references to it stay the same.
Json with_all(Json at, const Json& from, const Json& to) {
  if (at == from) return to;
  if (!at.is_structured()) return at;
  for (auto& child : at) child = with_all(child, from, to);
  return at;
}

enum class Effect : std::uint8_t { kNone, kProblem, kChange };

/// The strongest effect of any other value at `pointer`.
Effect effect_of(const Json& document, const std::string& pointer, const Outcome& before,
                 Target to) {
  const Json::json_pointer place(pointer);
  Effect effect = Effect::kProblem;
  for (const Json& other : others(document[place])) {
    Json alone = document;
    alone[place] = other;
    const bool may_be_reference = other.is_string() || other.is_number();
    for (const Json& changed :
         {alone, may_be_reference ? with_all(document, document[place], other) : alone}) {
      const Outcome after = outcome(changed, to);
      if (!after.is_read) continue;
      if (without_places(after.text) != without_places(before.text) || is_warned_of(after, pointer))
        return Effect::kChange;
      effect = Effect::kNone;
    }
  }
  return effect;
}

/// What a document's own specification or the options leave without effect, and the values that no
/// other value can replace.
struct Exceptions {
  std::set<std::string> without_effect, only_value;
  bool all_of_a_loss = false;  // what is left out takes all that is below it along
};

void walk(const std::string& full, Target to, const Exceptions& exceptions) {
  const Json document = Json::parse(full);
  const Outcome before = outcome(document, to);
  BOOST_REQUIRE(before.is_read);
  BOOST_REQUIRE_MESSAGE(before.text.contains("\n"), before.text);
  Outcome told = before;
  if (exceptions.all_of_a_loss)
    for (const std::string& loss : losses_of(before.text)) told.told.push_back(loss);
  std::vector<std::string> leaves;
  collect_leaves(document, "", leaves);
  Exceptions found;
  for (const std::string& pointer : leaves) {
    if (is_warned_of(told, pointer)) continue;
    const Effect effect = effect_of(document, pointer, before, to);
    if (effect == Effect::kNone) found.without_effect.insert(pointer);
    if (effect == Effect::kProblem) found.only_value.insert(pointer);
  }
  const auto shown = [](const std::set<std::string>& places) {
    return fmt::format("{}", fmt::join(places, "\n"));
  };
  BOOST_TEST(shown(found.without_effect) == shown(exceptions.without_effect));
  BOOST_TEST(shown(found.only_value) == shown(exceptions.only_value));
  BOOST_TEST(leaves.size() > 30U);
}

/// Values of the full App Container pod that no other value can replace.
std::set<std::string> only_values_of_appc() {
  return {"/acKind",
          "/apps/0/app/eventHandlers",
          "/apps/0/app/isolators/0/name",
          "/apps/0/app/isolators/1/name",
          "/apps/0/app/isolators/2/name",
          "/apps/0/app/isolators/3/name",
          "/apps/0/app/isolators/4/name",
          "/apps/0/app/isolators/5/name",
          "/apps/0/app/isolators/6/name",
          "/apps/0/app/isolators/7/name",
          "/apps/0/app/isolators/8/name",
          "/apps/0/app/ports/0/count",
          "/apps/0/app/ports/0/socketActivated",
          "/apps/0/mounts/1/appVolume/kind",
          "/isolators/0/name",
          "/isolators/1/name",
          "/volumes/1/kind"};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exports_of_all_attributes)

BOOST_AUTO_TEST_CASE(of_oam_for_kubernetes) {
  walk(full_oam(), export_to_kubernetes,
       {.without_effect = {"/spec/containers/0/config/0/value",  // fromParam wins
                           "/spec/containers/0/resources/volumes/0/sharingPolicy"},  // ephemeral
        .only_value = {"/apiVersion", "/kind", "/spec/arch", "/spec/osType"}});
}

BOOST_AUTO_TEST_CASE(of_app_container_for_kubernetes) {
  walk(full_appc(), export_to_kubernetes,
       {.without_effect = {"/acVersion",
                           "/apps/0/app/isolators/3/value/errno",  // all of it is left out
                           "/apps/0/app/isolators/3/value/set/0",
                           "/apps/0/app/mountPoints/0/name",         // a mount has the same path
                           "/apps/0/app/mountPoints/0/readOnly",     // as the volume
                           "/apps/0/app/userAnnotations/any thing",  // AC-21
                           "/apps/0/app/userLabels/l",
                           "/apps/0/image/id",  // --image names another one
                           "/apps/0/image/labels/0/name", "/apps/0/image/labels/0/value",
                           "/apps/0/image/name", "/userAnnotations/any thing", "/userLabels/l",
                           "/volumes/0/readOnly"},  // as the mount point
        .only_value = only_values_of_appc()});
}

BOOST_AUTO_TEST_CASE(of_radius_for_kubernetes) {
  walk(full_radius(), export_to_kubernetes,
       {.without_effect = {"/properties/connections/cache/source",  // --param gives its properties
                           "/type"},
        .only_value = {"/properties/autoScaling/metric/kind",
                       "/properties/containers/web/livenessProbe/httpGet/port",
                       "/properties/containers/web/volumeMounts/m/volumeName",
                       "/properties/volumes/tmp/emptyDir"}});
}

BOOST_AUTO_TEST_CASE(of_the_first_edition_of_radius_for_kubernetes) {
  walk(full_radius_core(), export_to_kubernetes,
       {.without_effect = {"/properties/connections/cache/source",  // --param gives its properties
                           "/type"},
        .only_value = {"/properties/container/livenessProbe/kind",
                       "/properties/container/readinessProbe/kind",
                       "/properties/container/volumes/data/kind",
                       "/properties/container/volumes/tmp/kind", "/properties/extensions/0/kind",
                       "/properties/extensions/1/kind", "/properties/resourceProvisioning"}});
}

BOOST_AUTO_TEST_CASE(of_knative_for_kubernetes) {
  walk(full_knative(), export_to_kubernetes,
       {.without_effect = {},
        .only_value = {"/apiVersion", "/kind", "/spec/template/spec/containers/0/ports/0/protocol",
                       "/spec/template/spec/containers/0/resources/requests/cpu",
                       "/spec/template/spec/containers/0/securityContext/capabilities/add/0",
                       "/spec/template/spec/containers/0/securityContext/seccompProfile/type"}});
}

BOOST_AUTO_TEST_CASE(of_kubernetes_for_kubernetes) {
  walk(full_kubernetes(), export_to_kubernetes,
       {.without_effect = {},
        .only_value = {"/apiVersion", "/kind",
                       "/spec/template/spec/containers/0/env/3/valueFrom/fieldRef/apiVersion",
                       "/spec/template/spec/containers/0/env/3/valueFrom/fieldRef/fieldPath",
                       "/spec/template/spec/containers/0/env/4/valueFrom/fieldRef/fieldPath",
                       "/spec/template/spec/containers/0/livenessProbe/successThreshold",
                       "/spec/template/spec/containers/0/resources/requests/cpu",
                       "/spec/template/spec/containers/0/securityContext/appArmorProfile/type",
                       "/spec/template/spec/containers/0/securityContext/seccompProfile/type",
                       "/spec/template/spec/dnsPolicy", "/spec/template/spec/hostNetwork",
                       "/spec/template/spec/restartPolicy",
                       "/spec/template/spec/securityContext/seccompProfile/type"}});
}

BOOST_AUTO_TEST_CASE(of_oam_for_swarm) {
  walk(full_oam(), export_to_swarm,
       {.without_effect = {"/spec/containers/0/config/0/value",  // fromParam wins
                           "/spec/containers/0/config/1/path",   // the file is empty, and left out
                           "/spec/containers/0/ports/0/name",    // ports have no names
                           "/spec/containers/0/ports/1/name",
                           // the probe is left out
                           "/spec/containers/0/readinessProbe/httpGet/httpHeaders/0/name",
                           "/spec/containers/0/readinessProbe/httpGet/httpHeaders/0/value",
                           "/spec/containers/0/resources/volumes/0/sharingPolicy"},  // ephemeral
        .only_value = {"/apiVersion", "/kind", "/spec/arch", "/spec/osType"}});
}

BOOST_AUTO_TEST_CASE(of_app_container_for_swarm) {
  walk(full_appc(), export_to_swarm,
       {.without_effect = {"/acVersion",
                           "/apps/0/app/isolators/3/value/errno",  // all of it is left out
                           "/apps/0/app/isolators/3/value/set/0",
                           "/apps/0/app/mountPoints/0/name",         // a mount has the same path
                           "/apps/0/app/mountPoints/0/readOnly",     // as the volume
                           "/apps/0/app/ports/0/name",               // ports have no names
                           "/apps/0/app/userAnnotations/any thing",  // AC-21
                           "/apps/0/app/userLabels/l",
                           "/apps/0/image/id",  // --image names another one
                           "/apps/0/image/labels/0/name",
                           "/apps/0/image/labels/0/value",
                           "/apps/0/image/name",
                           "/apps/0/mounts/0/volume",  // binds and empty volumes have no names
                           "/apps/0/mounts/1/appVolume/name",
                           "/apps/0/mounts/1/volume",
                           "/isolators/1/value/limit",  // the app's own limit is lower
                           "/ports/0/name",
                           "/ports/0/podPort/name",
                           "/userAnnotations/any thing",
                           "/userLabels/l",
                           "/volumes/0/name",
                           "/volumes/0/readOnly",  // as the mount point
                           "/volumes/1/gid",
                           "/volumes/1/mode",
                           "/volumes/1/uid"},  // not mounted
        .only_value = only_values_of_appc()});
}

BOOST_AUTO_TEST_CASE(of_radius_for_swarm) {
  walk(full_radius(), export_to_swarm,
       {.without_effect = {"/properties/autoScaling/maxReplicas",  // all of it is left out
                           "/properties/autoScaling/metric/customMetric",
                           "/properties/autoScaling/metric/target/averageValue",
                           "/properties/connections/cache/source",  // --param gives its properties
                           // the variable is left out
                           "/properties/containers/web/env/B/valueFrom/secretKeyRef/key",
                           "/properties/initContainers/first/image",  // left out
                           "/properties/initContainers/second/image",
                           "/properties/volumes/keys/secretId",  // not mounted
                           "/type"},
        .only_value = {"/properties/autoScaling/metric/kind",
                       "/properties/containers/web/livenessProbe/httpGet/port",
                       "/properties/containers/web/volumeMounts/m/volumeName",
                       "/properties/volumes/tmp/emptyDir"}});
}

BOOST_AUTO_TEST_CASE(of_the_first_edition_of_radius_for_swarm) {
  walk(full_radius_core(), export_to_swarm,
       {.without_effect = {"/properties/connections/cache/source",  // --param gives its properties
                           "/type"},
        .only_value = {"/properties/container/volumes/data/kind",
                       "/properties/container/volumes/tmp/kind", "/properties/extensions/0/kind",
                       "/properties/extensions/1/kind", "/properties/resourceProvisioning"},
        .all_of_a_loss = true});
}

BOOST_AUTO_TEST_CASE(of_knative_for_swarm) {
  const std::string mounted_whole = with(full_knative(), R"(, "subPath": "a/b")", "");
  const std::string container = "/spec/template/spec/containers/0";
  const std::string volumes = "/spec/template/spec/volumes";
  walk(mounted_whole, export_to_swarm,
       {.without_effect = {container + "/env/1/valueFrom/secretKeyRef/optional",  // left out
                           container + "/envFrom/0/prefix",
                           container + "/envFrom/0/secretRef/optional",
                           container + "/ports/0/name",                   // ports have no names
                           container + "/readinessProbe/periodSeconds",   // the probe is left out
                           container + "/securityContext/runAsNonRoot",   // the user is no root
                           container + "/startupProbe/httpGet/port",      // the probe is left out
                           container + "/volumeMounts/0/name",            // files have no volume
                           container + "/volumeMounts/0/readOnly",        // a secret always is
                           "/spec/template/spec/initContainers/0/image",  // left out
                           volumes + "/0/name",
                           volumes + "/0/secret/defaultMode",  // the item has a mode
                           volumes + "/2/emptyDir/medium",     // not mounted
                           volumes + "/2/emptyDir/sizeLimit",
                           volumes + "/3/persistentVolumeClaim/claimName",
                           volumes + "/3/persistentVolumeClaim/readOnly"},
        .only_value = {"/apiVersion", "/kind", container + "/ports/0/protocol",
                       container + "/resources/requests/cpu",
                       container + "/securityContext/capabilities/add/0",
                       container + "/securityContext/seccompProfile/type"}});
}

BOOST_AUTO_TEST_CASE(of_kubernetes_for_swarm) {
  const std::string mounted_whole = with(full_kubernetes(), R"(, "subPath": "a/b")", "");
  const std::string spec = "/spec/template/spec";
  const std::string container = spec + "/containers/0", volumes = spec + "/volumes";
  walk(mounted_whole, export_to_swarm,
       {.without_effect = {container + "/ports/0/name",                  // ports have no names
                           container + "/securityContext/runAsNonRoot",  // the user is no root
                           container + "/volumeMounts/0/name",           // files have no volume
                           container + "/volumeMounts/0/readOnly",       // a secret always is
                           container + "/volumeMounts/1/name",
                           spec + "/securityContext/runAsNonRoot",  // the user is no root
                           volumes + "/0/name",
                           volumes + "/0/secret/defaultMode",  // the item has a mode
                           volumes + "/2/emptyDir/medium",     // not mounted
                           volumes + "/2/emptyDir/sizeLimit",
                           volumes + "/3/persistentVolumeClaim/claimName",
                           volumes + "/3/persistentVolumeClaim/readOnly",
                           volumes + "/4/hostPath/type", volumes + "/4/name"},
        .only_value = {"/apiVersion", "/kind", container + "/resources/requests/cpu",
                       spec + "/hostNetwork", spec + "/restartPolicy",
                       spec + "/securityContext/seccompProfile/type"},
        .all_of_a_loss = true});
}

BOOST_AUTO_TEST_SUITE_END()
