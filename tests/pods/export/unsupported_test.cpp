// What Kubernetes has and one machine does not: `pod run` refuses it, and an export copies it.

#include <fmt/format.h>

#include <array>

#include "pods/documents/kubernetes/unsupported.hpp"
#include "tests/pods/documents/full.hpp"
#include "tests/pods/export/export_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

/// A pod with `member` in one of its parts.
std::string pod_with(PartOfPod part, std::string_view member) {
  const auto in = [&](PartOfPod wanted) {
    return part == wanted ? fmt::format(", {}", member) : std::string();
  };
  std::string text = fmt::format(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: p, labels: {{app: p}}}}\nspec:\n"
      "  securityContext: {{runAsUser: 1{}}}\n"
      "  containers: [{{name: c, image: i, securityContext: {{runAsGroup: 2{}}}, env: [{{name: "
      "A, value: b}}{}], volumeMounts: [{{name: v, mountPath: /v{}}}]{}}}]\n"
      "  volumes: [{{name: v, {}}}]\n",
      in(PartOfPod::kPodSecurity), in(PartOfPod::kContainerSecurity),
      part == PartOfPod::kVariable ? fmt::format(", {{name: X, valueFrom: {{{}}}}}", member) : "",
      in(PartOfPod::kMount), in(PartOfPod::kContainer),
      part == PartOfPod::kVolume ? member : "emptyDir: {}");
  if (part == PartOfPod::kPod) text += fmt::format("  {}\n", member);
  if (part == PartOfPod::kService)
    text += fmt::format(
        "---\napiVersion: v1\nkind: Service\nmetadata: {{name: p}}\nspec: {{selector: {{app: p}}, "
        "ports: [{{port: 80}}], {}}}\n",
        member);
  return text;
}

std::string pod_of(std::string_view of_pod, std::string_view of_container = "") {
  return fmt::format(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers: [{{name: c, image: "
      "i{}{}}}]\n  {}\n",
      of_container.empty() ? "" : ", ", of_container, of_pod);
}

std::string swarm_of(const std::string& text) { return exported(text, {}, export_to_swarm); }

/// `pod run` refuses the document for one reason, its export has `part`, and what is exported is
/// refused and exported in the same way.
void is_copied(const std::string& text, std::string_view part, std::string_view reason) {
  const Workload workload = read_workload("f", text);
  BOOST_TEST_CONTEXT(text) {
    BOOST_TEST(lines(workload.problems) == "");
    BOOST_REQUIRE(workload.pod.elsewhere.size() == 1U);
    const Elsewhere& refused = workload.pod.elsewhere[0];
    const std::string sentence = workload.at(refused);
    BOOST_TEST(sentence.contains(reason), sentence);
    BOOST_TEST(sentence.contains("`ocirun pod export --to kubernetes"), sentence);
    const std::string once = exported(text);
    BOOST_TEST(once.contains(part), once);
    const Workload again = read_workload("g", once);
    BOOST_REQUIRE(again.pod.elsewhere.size() == 1U);
    BOOST_TEST(again.pod.elsewhere[0].sentence == refused.sentence);
    BOOST_TEST(exported(once) == once);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exports_of_what_one_machine_does_not_have)

BOOST_AUTO_TEST_CASE(each_member_that_is_not_supported_is_copied) {
  for (const PartOfPod part : {PartOfPod::kPod, PartOfPod::kPodSecurity, PartOfPod::kContainer,
                               PartOfPod::kContainerSecurity, PartOfPod::kVariable,
                               PartOfPod::kMount, PartOfPod::kVolume, PartOfPod::kService})
    for (const UnsupportedName& member : unsupported_of(part))
      is_copied(pod_with(part, fmt::format("{}: {{odd: kept}}", member.name)), "odd: kept",
                fmt::format("{}: is not supported: {}", member.name, member.why));
}

BOOST_AUTO_TEST_CASE(values_that_are_not_supported_are_copied) {
  struct Case {
    std::string_view of_pod, of_container, exported;
  };
  for (const Case& one : std::array{
           Case{"dnsPolicy: None", "", "dnsPolicy: None"},
           Case{"hostUsers: false", "", "hostUsers: false"},
           Case{"hostname: other", "", "hostname: other"},
           Case{"hostPID: yes", "", "hostPID: true"},
           Case{"os: {name: windows}", "", "os:\n    name: windows"},
           Case{"nodeSelector: {kubernetes.io/arch: odd}", "", "kubernetes.io/arch: odd"},
           Case{"", "livenessProbe: {grpc: {port: 9}, periodSeconds: 3}",
                "livenessProbe:\n        periodSeconds: 3\n        grpc:\n          port: 9"},
           Case{"", "readinessProbe: {httpGet: {port: 9, host: other}}", "host: other"},
           Case{"", "resources: {limits: {hugepages-2Mi: 2Mi, cpu: 1}}",
                "limits:\n          cpu: \"1\"\n          hugepages-2Mi: \"2Mi\""},
           Case{"", "resources: {limits: {ephemeral-storage: 1Gi}}", "ephemeral-storage: \"1Gi\""},
           Case{"", "resources: {claims: [{name: gpu}]}", "claims:\n          - name: gpu"},
           Case{"", "securityContext: {procMount: Unmasked}", "procMount: Unmasked"},
           Case{"", "securityContext: {capabilities: {add: [ALL]}}", "add:\n            - ALL"},
           Case{"", "securityContext: {appArmorProfile: {type: RuntimeDefault}}",
                "appArmorProfile:\n          type: RuntimeDefault"},
           Case{"", "env: [{name: A, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]",
                "fieldPath: status.podIP"}})
    is_copied(pod_of(one.of_pod, one.of_container), one.exported, "is not supported");
}

BOOST_AUTO_TEST_CASE(a_sidecar_keeps_its_probes_and_its_ports) {
  const std::string text = pod_of(
      "initContainers: [{name: s, image: i, restartPolicy: Always, ports: [{containerPort: 9}], "
      "startupProbe: {exec: {command: [ls]}}}]");
  is_copied(text, "restartPolicy: Always", "restartPolicy: is not supported");
  const std::string out = exported(text);
  BOOST_TEST((out.contains("startupProbe:") && out.contains("containerPort: 9")));
  BOOST_TEST(problems(with(text, "restartPolicy: Always, ", ""))
                 .contains("an init container has no probes and no ports"));
}

BOOST_AUTO_TEST_CASE(a_selector_by_expressions_and_no_replicas_are_copied) {
  const std::string text = R"yaml(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchExpressions: [{key: app, operator: Exists}]}
  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: a, image: a}]}
)yaml";
  is_copied(text, "operator: Exists", "matchExpressions: is not supported");
  BOOST_TEST(!exported(text).contains("app.kubernetes.io/instance"));
  BOOST_TEST(exported(text, {.kind = ExportedKind::kPod})
                 .contains("matchExpressions: has no place in the objects that are written"));
  const std::string none =
      with(with(text, "selector:", "replicas: 0\n  selector:"),
           "matchExpressions: [{key: app, operator: Exists}]", "matchLabels: {app: x}");
  is_copied(none, "replicas: 0", "/spec/replicas: 0 replicas are no pod to run");
}

BOOST_AUTO_TEST_CASE(what_is_left_out_is_not_copied) {
  const std::vector<std::string> ignored{"lifecycle"};
  Workload workload =
      read_workload("f", pod_of("", "lifecycle: {preStop: {sleep: {seconds: 1}}}"), ignored);
  BOOST_TEST(workload.pod.elsewhere.empty());
  const auto made = export_workload(std::move(workload), {}, export_to_kubernetes);
  BOOST_REQUIRE(made);
  BOOST_TEST(!made->text.contains("lifecycle"));
}

BOOST_AUTO_TEST_CASE(swarm_has_nothing_of_it) {
  BOOST_TEST(swarm_of(pod_of("hostAliases: [{ip: 1.2.3.4, hostnames: [a]}]"))
                 .contains("/spec/hostAliases: only a cluster of Kubernetes honours this"));
}

BOOST_AUTO_TEST_SUITE_END()
