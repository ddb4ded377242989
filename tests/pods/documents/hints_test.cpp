// A hint is given only when following it works: each message about a document is provoked, its hint
// is followed to the letter, and the document is read again. The hints of commands and of the
// files of the host are followed by integration/pod_hints.bats and pod_host_paths.bats.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/pods/documents/full.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using Json = nlohmann::ordered_json;

namespace {

/// The names that tables of the sources refuse: UnsupportedName{"X" and not_supported("X".
std::set<std::string> refused_names() {
  std::set<std::string> names;
  const std::regex table(R"re((?:UnsupportedName\s*\{|k\w+\{|not_supported\()\s*"(\w[\w-]*)")re");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(OCIRUN_SOURCE_DIR) / "pods")) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (!text.contains("UnsupportedName") && !text.contains("not_supported")) continue;
    for (std::sregex_iterator found(text.begin(), text.end(), table), end; found != end; ++found)
      names.insert((*found)[1]);
  }
  return names;
}

/// What stands beside workloads, and documents around a workload of OAM.
std::string beside_kubernetes() {
  return R"({"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {
      "selector": {"matchLabels": {"app": "db"}}, "template": {"metadata": {"labels": {"app": "db"}}, "spec": {
        "containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}}}},
    {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"selector": {"app": "db"}, "ports": [{"port": 1}]}},
    {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]})";
}
std::string application() {
  return R"({"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "core.oam.dev/v1alpha2", "kind": "ApplicationConfiguration", "metadata": {"name": "a"},
     "spec": {"components": [{"componentName": "c"}]}},
    {"apiVersion": "core.oam.dev/v1alpha2", "kind": "Component", "metadata": {"name": "c"}, "spec": {"workload":
      {"apiVersion": "core.oam.dev/v1alpha2", "kind": "ContainerizedWorkload", "metadata": {"name": "w"}, "spec": {"containers": [
        {"name": "c", "image": "i", "resources": {"cpu": {"required": 1}, "memory": {"required": "1M"}}}]}}}}]})";
}
std::vector<Json> documents() {
  std::vector<Json> all;
  for (const std::string& text :
       {full_oam(), full_appc(), full_radius(), full_radius_core(), full_knative(),
        full_kubernetes(), beside_kubernetes(), application()})
    all.push_back(Json::parse(text));
  return all;
}

void collect_objects(const Json& at, const Json::json_pointer& place,
                     std::vector<Json::json_pointer>& out) {
  if (at.is_object()) out.push_back(place);
  if (at.is_structured())
    for (const auto& [key, child] : at.items())
      collect_objects(child, at.is_array() ? place / std::stoul(key) : place / key, out);
}

/// The problems, and what `run` does not support and an export copies.
std::string refusals(std::string_view text, const std::vector<std::string>& ignored) {
  const Workload workload = read_workload("f", text, ignored);
  std::string all = lines(workload.problems);
  for (const Elsewhere& part : workload.pod.elsewhere)
    if (part.is_copied || !part.can_be_ignored) all += workload.at(part) + '\n';
  return all;
}

std::string problems_of(const Json& document, const std::vector<std::string>& ignored = {}) {
  return refusals(document.dump(), ignored);
}

/// What the message offers: "X" of "(--ignore X leaves", "Y" of "(did you mean Y?)"; "": nothing.
std::string offered(const std::string& message, const std::string& before,
                    const std::string& after) {
  const std::size_t begin = message.find(before);
  if (begin == std::string::npos) return "";
  const std::size_t end = message.find(after, begin);
  return message.substr(begin + before.size(), end - begin - before.size());
}

/// The one problem of a document at `place`; "": there is none, or there are others.
std::string only_problem(const Json& document, const Json::json_pointer& place) {
  const std::string text = problems_of(document);
  const bool is_one = std::ranges::count(text, '\n') == 1;
  return is_one && text.contains(" " + place.to_string() + ": ") ? text : "";
}

/// Those of `names` that the reader of an object refuses, of which a report has no more than fit.
std::set<std::string> refused_in(const Json& document, const Json::json_pointer& object,
                                 const std::set<std::string>& names) {
  constexpr std::size_t kAtOnce = 40;
  std::set<std::string> refused;
  for (auto name = names.begin(); name != names.end();) {
    Json added = document;
    for (std::size_t i = 0; i < kAtOnce && name != names.end(); ++i, ++name)
      if (!document[object].contains(*name)) added[object][*name] = Json::object({{"odd", 1}});
    const std::string text = problems_of(added);
    for (const std::string& each : names)
      if (text.contains(fmt::format(" {}: is not supported: ", (object / each).to_string())))
        refused.insert(each);
  }
  return refused;
}

/// Follows "(--ignore X leaves it out)". Returns whether there was such a hint.
bool follow_ignore(const Json& document, const std::string& message) {
  const std::string name = offered(message, "(--ignore ", " leaves ");
  if (name.empty()) return false;
  BOOST_TEST(problems_of(document, {name}) == "", "after: " << message);
  return true;
}

std::string after_ignoring(std::string_view text) {
  const std::string message = problems(text);
  const std::string name = offered(message, "(--ignore ", " leaves ");
  BOOST_TEST(!name.empty(), message);
  return refusals(text, {name});
}

std::string pod(std::string_view of_spec, std::string_view of_container = "") {
  return fmt::format(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers: [{{name: c, image: "
      "i{}}}]\n{}",
      of_container, of_spec.empty() ? "" : fmt::format("  {}\n", of_spec));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hints)

BOOST_AUTO_TEST_CASE(each_refused_name_can_be_left_out_where_the_message_says_so) {
  const std::set<std::string> names = refused_names();
  BOOST_TEST(names.size() > 90U);
  std::set<std::string> provoked;
  for (const Json& document : documents()) {
    BOOST_TEST(problems_of(document) == "");
    std::vector<Json::json_pointer> objects;
    collect_objects(document, Json::json_pointer(), objects);
    for (const Json::json_pointer& object : objects)
      for (const std::string& name : refused_in(document, object, names)) {
        Json added = document;
        added[object][name] = Json::object({{"odd", 1}});
        const std::string message = only_problem(added, object / name);
        provoked.insert(name);
        follow_ignore(added, message);
        // The same as the only member besides the name.
        Json alone = document;
        alone[object] = Json::object({{name, Json::object({{"odd", 1}})}});
        if (document[object].contains("name")) alone[object]["name"] = document[object]["name"];
        if (const std::string single = only_problem(alone, object / name); !single.empty())
          follow_ignore(alone, single);
      }
  }
  for (const std::string& name : names)
    BOOST_CHECK_MESSAGE(provoked.contains(name), name << " is refused, and no message provoked");
}

BOOST_AUTO_TEST_CASE(each_refused_value_can_be_left_out_where_the_message_says_so) {
  for (const std::string_view member :
       {"dnsPolicy: None", "hostname: other", "hostUsers: false",
        "securityContext: {supplementalGroupsPolicy: Strict}",
        "securityContext: {appArmorProfile: {type: RuntimeDefault}}",
        "initContainers: [{name: x, image: i, restartPolicy: Never}]",
        "volumes: [{name: v, nfs: {}}]", "volumes: [{name: v, csi: {driver: d}}]"})
    BOOST_TEST(after_ignoring(pod(member)) == "", member);
  for (const std::string_view member :
       {"restartPolicy: Always", "securityContext: {procMount: Unmasked}",
        "resources: {limits: {hugepages-2Mi: 1Gi}}",
        "env: [{name: A, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]",
        "env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]"})
    BOOST_TEST(after_ignoring(pod("", fmt::format(", {}", member))) == "", member);
  for (const std::string_view beside :
       {"apiVersion: networking.k8s.io/v1\nkind: Ingress", "apiVersion: batch/v1\nkind: CronJob",
        "apiVersion: extensions/v1beta1\nkind: Deployment", "apiVersion: v2\nkind: Service",
        "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {type: ExternalName, "
        "externalName: "
        "a.example}",
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\nspec: {volumeMode: "
        "Block}"})
    BOOST_TEST(after_ignoring(fmt::format("{}---\n{}\n", pod(""), beside)) == "", beside);
  BOOST_TEST(after_ignoring(with(
                 application(), R"({"componentName": "c"})",
                 R"({"componentName": "c", "traits": [{"trait": {"kind": "Ingress"}}]})")) == "");
}

BOOST_AUTO_TEST_CASE(each_name_that_a_message_offers_is_read) {
  for (const Json& document : documents()) {
    std::vector<Json::json_pointer> objects;
    collect_objects(document, Json::json_pointer(), objects);
    for (const Json::json_pointer& object : objects)
      for (const auto& [key, value] : document[object].items()) {
        Json misspelt = document;
        misspelt[object].erase(key);
        misspelt[object][key + "x"] = value;
        const std::string name =
            offered(only_problem(misspelt, object / (key + "x")), "(did you mean ", "?)");
        if (name.empty()) continue;
        misspelt[object].erase(key + "x");
        misspelt[object][name] = value;
        BOOST_TEST(problems_of(misspelt) == "", object / key);
      }
  }
}

BOOST_AUTO_TEST_CASE(a_word_of_the_formats_that_is_not_read_gets_no_other_word) {
  const std::string sctp = problems(pod("", ", ports: [{containerPort: 1, protocol: SCTP}]"));
  BOOST_TEST(
      sctp.contains("/protocol: is not supported: SCTP is not forwarded, as TCP and UDP are: leave "
                    "out this port"));
  BOOST_TEST(problems(pod("", ", ports: []")) == "");
  for (const std::string& text :
       {with(full_oam(), "\"UDP\"", "\"SCTP\""),
        with(full_radius(), R"("protocol": "TCP")", R"("protocol": "SCTP")"),
        with(full_appc(), R"("port": 21, "protocol": "tcp", "count")",
             R"("port": 21, "protocol": "sctp", "count")"),
        with(full_kubernetes(), "\"TCP\"", "\"SCTP\"")}) {
    BOOST_TEST(problems(text).contains("is not supported"));
    BOOST_TEST(!problems(text).contains("did you mean"));
  }
}

BOOST_AUTO_TEST_CASE(a_sidecar_is_moved_to_the_containers_and_cannot_be_ignored) {
  const std::string sidecar = "{name: side, image: i, restartPolicy: Always}";
  const std::string text = pod(fmt::format("initContainers: [{}]", sidecar));
  const std::string message = problems(text);
  BOOST_TEST(
      message.contains("/restartPolicy: is not supported: \"Always\" makes the init container "
                       "a sidecar, which runs beside the others: move it to containers;"));
  const Workload ignored = read_workload("f", text, std::vector<std::string>{"restartPolicy"});
  BOOST_TEST((ignored.pod.elsewhere.size() == 1U && ignored.unused_ignored.empty()));
  const std::string moved = with(pod(""), "}]", fmt::format("}}, {}]", sidecar));
  BOOST_TEST(after_ignoring(moved) == "");
}

BOOST_AUTO_TEST_CASE(a_generated_name_is_replaced_or_has_no_effect) {
  const std::string text = with(pod(""), "{name: p}", "{generateName: p-}");
  BOOST_TEST(problems(text).contains("/metadata/generateName: is not supported: write name\n"));
  const std::string both = with(pod(""), "{name: p}", "{generateName: p-, name: p}");
  BOOST_TEST((problems(both) == "" && warnings(both).contains("generateName: has no effect")));
  BOOST_TEST(problems(with(
                 full_kubernetes(), R"("metadata": {"labels": {"app": "shop", "tier")",
                 R"("metadata": {"generateName": "x-", "labels": {"app": "shop", "tier")")) == "");
}

BOOST_AUTO_TEST_CASE(a_question_or_a_selector_that_is_refused_says_what_to_write) {
  const auto probe = [](std::string_view question) {
    return problems(pod("", fmt::format(", livenessProbe: {{{}}}", question)));
  };
  BOOST_TEST(probe("grpc: {port: 1}")
                 .contains("/grpc: is not supported: write tcpSocket, httpGet or exec;"));
  for (const std::string_view instead :
       {"tcpSocket: {port: 1}", "httpGet: {port: 1}", "exec: {command: [a]}"})
    BOOST_TEST(probe(instead) == "");
  BOOST_TEST(problems(with(full_kubernetes(), R"({"matchLabels": {"app": "shop"}})",
                           R"({"matchExpressions": [{"key": "app"}]})"))
                 .contains("/matchExpressions: is not supported: write matchLabels;"));
}

BOOST_AUTO_TEST_CASE(a_kind_of_kubernetes_that_is_not_run_says_what_to_write) {
  const std::pair<std::string_view, std::string_view> kKinds[] = {{"batch/v1", "Job"},
                                                                  {"batch/v1", "CronJob"},
                                                                  {"apps/v1", "DaemonSet"},
                                                                  {"apps/v1", "ReplicaSet"},
                                                                  {"v1", "ReplicationController"}};
  for (const auto& [version, kind] : kKinds) {
    const std::string message =
        problems(fmt::format("apiVersion: {}\nkind: {}\nmetadata: {{name: j}}\n", version, kind));
    BOOST_TEST(message.contains(
        fmt::format("/kind: the kind {} is not supported: write the template of its pods as a Pod "
                    "(apiVersion: v1, with a name in metadata)",
                    kind)));
    BOOST_TEST(!message.contains("--ignore"));  // nothing would be left
  }
  BOOST_TEST(problems(with(pod(""), "apiVersion: v1", "apiVersion: v2"))
                 .contains("unknown version \"v2\" of the kind Pod: write v1\n"));
  for (const std::string_view old : {"extensions/v1beta1", "apps/v1beta2"}) {
    const std::string text = with(full_kubernetes(), "apps/v1", old);
    BOOST_TEST(problems(text).contains("apps/v1"));
  }
}

BOOST_AUTO_TEST_CASE(an_application_of_kubevela_is_named_as_what_it_is) {
  const std::string text =
      "apiVersion: core.oam.dev/v1beta1\nkind: Application\nmetadata: {name: a}\nspec: "
      "{components: "
      "[{name: web, type: webservice, properties: {image: i}}]}\n";
  BOOST_TEST(problems(text).starts_with(
      "f:1:1: the document: is an Application of KubeVela, whose components only a cluster with "
      "KubeVela knows: `vela dry-run` prints the documents of Kubernetes"));
  BOOST_TEST(std::ranges::count(problems(text), '\n') == 1);
  // What it prints.
  BOOST_TEST(problems("---\n# Application(a) -- Component(web)\n---\n" + full_kubernetes() +
                      "\n---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {selector: "
                      "{app: shop}, ports: [{port: 1}]}\n") == "");
}

BOOST_AUTO_TEST_CASE(annotations_of_cloud_run_that_give_nothing_here_are_told) {
  for (const std::string_view name : {"cloudsql-instances", "vpc-access-connector",
                                      "vpc-access-egress", "network-interfaces", "secrets"}) {
    const std::string text = fmt::format(
        "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {{name: s}}\nspec: "
        "{{template: "
        "{{metadata: {{annotations: {{run.googleapis.com/{}: x}}}}, spec: {{containers: [{{image: "
        "i}}]}}}}}}\n",
        name);
    BOOST_TEST(problems(text) == "");
    BOOST_TEST(warnings(text).contains(
        fmt::format("/annotations/run.googleapis.com~1{}: has no effect: ", name)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
