// Knative Service, Configuration and Revision: matrix §5.3, as far as a document can keep the
// contract.

#include "tests/pods/documents/full.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

std::string after(std::string_view from, std::string_view to) {
  return problems(with(full_knative(), from, to));
}

/// A Revision with these containers, as YAML.
std::string revision(std::string_view containers) {
  return "apiVersion: serving.knative.dev/v1\nkind: Revision\nmetadata: {name: r1}\nspec:\n  "
         "containers: " +
         std::string(containers) + "\n";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(knative)

BOOST_AUTO_TEST_CASE(every_attribute_reaches_the_pod) {
  const Pod pod = good(full_knative());
  BOOST_TEST(
      (pod.kind == Kind::kKnative && pod.name == "hello" && pod.restart == Restart::kAlways));
  BOOST_TEST((pod.knative->service == "hello" && pod.knative->configuration == "hello" &&
              pod.knative->revision == "hello-v1"));  // KN-2
  BOOST_TEST((pod.annotations.at("l") == "1" && pod.annotations.at("a") == "2"));
  BOOST_REQUIRE(pod.containers.size() == 1U);
  const Container& container = pod.containers[0];
  BOOST_TEST((container.command == std::vector<std::string>{"/srv"} &&
              container.args == std::vector<std::string>{"x"}));
  BOOST_TEST((container.env.size() == 3 &&
              std::get<SecretKey>(container.env[2].value).secret == "configmap/m"));
  BOOST_TEST((container.env_sources.size() == 2 && container.env_sources[0].prefix == "P_" &&
              container.env_sources[1].secret == "configmap/m"));
  BOOST_TEST((container.ports.size() == 1 && container.ports[0].number == 9000));  // KN-3
  BOOST_TEST((container.resources.requests.cpus == 0.1 &&
              container.resources.requests.memory == 64U << 20));
  BOOST_TEST((container.resources.limits.cpus == 1.0 &&
              container.resources.limits.memory == 1'000'000'000U));
  BOOST_TEST(
      (container.user == "1000" && container.group == "1001" && container.forbid_root));  // KN-16
  BOOST_TEST(container.read_only_root);                                                   // KN-17
  BOOST_TEST((container.security.no_new_privileges == true));
  BOOST_TEST((container.security.retained_capabilities ==
              std::vector<std::string>{"CAP_NET_BIND_SERVICE"}));
  BOOST_TEST((container.mounts.size() == 1 && container.mounts[0].read_only));  // KN-24
  BOOST_TEST((pod.volumes.size() == 4 && pod.volumes[0].read_only && pod.volumes[1].read_only));
  BOOST_TEST((pod.volumes[2].in_memory && pod.volumes[2].most_bytes == 10U << 20 &&
              pod.volumes[3].read_only));
  BOOST_TEST(pod.init_containers.size() == 1U);
}

BOOST_AUTO_TEST_CASE(what_only_a_cluster_gives_is_warned_of) {
  const std::string told = warnings(full_knative());
  for (const char* name :
       {"namespace", "timeoutSeconds", "responseStartTimeoutSeconds", "idleTimeoutSeconds",
        "serviceAccountName", "automountServiceAccountToken", "enableServiceLinks",
        "imagePullPolicy", "terminationMessagePath"})
    BOOST_CHECK_MESSAGE(told.contains(std::string("/") + name + ": has no effect: "), name);
  BOOST_TEST(told.contains(
      "autoscaling.knative.dev~1min-scale: has no effect: one machine runs one instance"));
}

BOOST_AUTO_TEST_CASE(several_instances_and_targets_need_several_machines) {
  BOOST_TEST(good(full_knative()).elsewhere.empty());
  BOOST_TEST(good(with(full_knative(), "min-scale\": \"1\"", "min-scale\": \"3\""))
                 .elsewhere.at(0)
                 .sentence == "3 instances need several machines: one machine runs 1");
  BOOST_TEST(good(with(full_knative(), "\"percent\": 100", "\"percent\": 50")).elsewhere.size() ==
             1U);
  BOOST_TEST(
      good(with(full_knative(), "\"containerConcurrency\": 0", "\"containerConcurrency\": 5"))
          .elsewhere.size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_platform_s_variables_are_not_the_developer_s) {  // KN-1, KN-2
  for (const char* name : {"PORT", "K_SERVICE", "K_CONFIGURATION", "K_REVISION"})
    BOOST_CHECK_MESSAGE(after("\"name\": \"A\"", std::string("\"name\": \"") + name + "\"")
                            .contains("is set by the platform"),
                        name);
}

BOOST_AUTO_TEST_CASE(requests_come_to_one_port) {  // KN-1, KN-3
  const Pod pod = good(revision("[{image: a}]"));
  BOOST_TEST(pod.containers[0].name == "user-container");
  BOOST_TEST(pod.containers[0].ports.at(0).number == 8080);
  BOOST_TEST((pod.knative->service.empty() && pod.knative->revision == "r1"));
  BOOST_TEST(problems(revision("[{image: a, ports: [{containerPort: 1}, {containerPort: 2}]}]"))
                 .contains("must have one port in all"));
  BOOST_TEST(problems(revision("[{name: a, image: a}, {name: b, image: b}]"))
                 .contains("one of several containers must have a port"));
  BOOST_TEST(
      after("\"http1\"", "\"web\"").contains("unknown name of a port \"web\" (known: http1, h2c)"));
  BOOST_TEST(after("\"protocol\": \"TCP\"", "\"protocol\": \"UDP\"").contains("must be TCP"));
  BOOST_TEST(
      after("\"protocol\": \"TCP\"", "\"hostPort\": 80").contains("/hostPort: must not be set"));
}

BOOST_AUTO_TEST_CASE(probes_ask_the_inbound_port) {  // KN-5
  const Pod pod = good(full_knative());
  BOOST_TEST(std::get<HttpProbe>(pod.containers[0].liveness->question).port == 9000);
  BOOST_TEST(std::get<HttpProbe>(pod.containers[0].startup->question).path == "/");
  BOOST_TEST(pod.containers[0].readiness->period.count() == 3);
  const Pod bare = good(revision("[{image: a}]"));
  BOOST_TEST(std::get<TcpProbe>(bare.containers[0].readiness->question).port ==
             8080);  // the default
  const Pod numbers = good(revision("[{image: a, readinessProbe: {periodSeconds: 2}}]"));
  BOOST_TEST(std::get<TcpProbe>(numbers.containers[0].readiness->question).port == 8080);
  BOOST_TEST(after("{\"port\": 9000}", "{\"port\": 9001}")
                 .contains("must ask the inbound port 9000, not 9001"));
  BOOST_TEST(after("\"httpGet\": {\"path\": \"/live\"}", "\"exec\": {\"command\": [\"a\"]}")
                 .contains("must be httpGet or tcpSocket"));
  BOOST_TEST(after("\"port\": \"http1\"", "\"port\": \"h2c\"")
                 .contains("the port \"h2c\" is none of the container's ports"));
}

BOOST_AUTO_TEST_CASE(what_the_developer_must_not_set_is_refused) {  // KN-12, KN-15
  for (const char* name : {"tty", "stdin", "lifecycle", "volumeDevices"})
    BOOST_CHECK_MESSAGE(
        problems(revision(std::string("[{image: a, ") + name + ": {}}]")).contains("unknown name"),
        name);
  for (const char* name : {"privileged", "procMount", "seLinuxOptions"})
    BOOST_CHECK_MESSAGE(
        problems(revision(std::string("[{image: a, securityContext: {") + name + ": true}}]"))
            .contains("unknown name"),
        name);
  for (const char* name : {"hostNetwork", "hostPID", "shareProcessNamespace", "runtimeClassName"})
    BOOST_CHECK_MESSAGE(
        problems(revision("[{image: a}]") + "  " + name + ": true\n").contains("unknown name"),
        name);
  BOOST_TEST(after("\"NET_BIND_SERVICE\"", "\"SYS_ADMIN\"")
                 .contains("only NET_BIND_SERVICE may be added"));
}

BOOST_AUTO_TEST_CASE(volumes_and_mounts_fit) {  // KN-24
  BOOST_TEST(after("\"name\": \"keys\", \"mountPath\"", "\"name\": \"key\", \"mountPath\"")
                 .contains("\"key\" is none of the volumes"));
  BOOST_TEST(after("\"emptyDir\": {\"medium\": \"Memory\"", "\"emptyDir\": {\"medium\": \"Disk\"")
                 .contains("/medium: must be \"Memory\" or \"\""));
  BOOST_TEST(
      after("\"secret\": {\"secretName\": \"s\"}", "\"hostPath\": {}").contains("unknown name"));
}

BOOST_AUTO_TEST_CASE(kinds_and_versions_are_checked) {
  BOOST_TEST(
      after("\"Service\"", "\"Route\"")
          .contains("/kind: unknown kind \"Route\" (known: Service, Configuration, Revision)"));
  BOOST_TEST(after("serving.knative.dev/v1", "serving.knative.dev/v1beta1")
                 .contains("/apiVersion: must be serving.knative.dev/v1"));
  const Pod pod = good(
      "apiVersion: serving.knative.dev/v1\nkind: Configuration\nmetadata: {name: c}\n"
      "spec: {template: {spec: {containers: [{image: a}]}}}\n");
  BOOST_TEST((pod.knative->configuration == "c" && pod.knative->service.empty() &&
              pod.knative->revision == "c-00001"));
}

BOOST_AUTO_TEST_CASE(an_init_container_serves_no_requests) {
  const auto document = [](const std::string& init) {
    return revision("[{image: a}]") + "  initContainers: [" + init + "]\n";
  };
  const Pod pod = good(document("{image: b}"));
  BOOST_TEST(pod.init_containers[0].name == "init-container");
  for (const char* name : {"livenessProbe", "readinessProbe", "startupProbe"})
    BOOST_CHECK_MESSAGE(problems(document(std::string("{image: b, ") + name + ": {}}"))
                            .contains("an init container has no probes"),
                        name);
  BOOST_TEST(problems(document("{image: b, ports: [{containerPort: 1}]}"))
                 .contains("/initContainers/0/ports: an init container has"));
  BOOST_TEST(problems(document("{image: b, name: user-container}"))
                 .contains("is the name of a container too"));
}

BOOST_AUTO_TEST_CASE(a_sidecar_says_which_port_its_probes_ask) {  // KN-5
  const auto document = [](const std::string& probe) {
    return revision(
        "[{name: a, image: a, ports: [{containerPort: 1}]}, {name: b, image: b, livenessProbe: " +
        probe + "}]");
  };
  BOOST_TEST(problems(document("{tcpSocket: {}}")).contains("must have a port"));
  BOOST_TEST(problems(document("{httpGet: {}}")).contains("must have a port"));
  BOOST_TEST(problems(document("{tcpSocket: {port: 5}}")) == "");
}

BOOST_AUTO_TEST_CASE(contradictions_are_refused) {
  BOOST_TEST(after("{\"name\": \"A\", \"value\": \"b\"}",
                   "{\"name\": \"A\", \"value\": \"b\", \"valueFrom\": {\"secretKeyRef\": "
                   "{\"name\": \"s\", \"key\": \"k\"}}}")
                 .contains("/env/0: must not have both value and valueFrom"));
  BOOST_TEST(after("\"memory\": \"64Mi\"", "\"memory\": \"2G\"")
                 .contains("/limits: must not be below the requests"));
  BOOST_TEST(after("\"runAsUser\": 1000", "\"runAsUser\": 0")
                 .contains("/runAsUser: is 0, which runAsNonRoot forbids"));
  BOOST_TEST(
      after("\"drop\": [\"ALL\"]", "\"drop\": [\"FOO\"]").contains("unknown capability \"FOO\""));
}

BOOST_AUTO_TEST_CASE(traffic_goes_to_the_latest_revision) {
  const auto elsewhere = [](const char* target) {
    return good(with(full_knative(), "{\"percent\": 100, \"latestRevision\": true}", target))
        .elsewhere.size();
  };
  BOOST_TEST(elsewhere("{\"latestRevision\": true}") == 0U);
  for (const char* bad : {"{\"percent\": 100}", "{\"latestRevision\": true, \"tag\": \"t\"}",
                          "{\"latestRevision\": true, \"revisionName\": \"r\"}"})
    BOOST_CHECK_MESSAGE(elsewhere(bad) == 1U, bad);
  BOOST_TEST(good(with(full_knative(), "min-scale\": \"1\"", "min-scale\": \"99999999999\""))
                 .elsewhere.size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
