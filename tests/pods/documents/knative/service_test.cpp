// Knative Service, Configuration and Revision: as far as a document can keep the
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
  BOOST_TEST((pod.controller_metadata->labels.at("l") == "1" &&
              pod.controller_metadata->annotations.at("a") == "2"));
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
  BOOST_REQUIRE(container.resources.devices.size() == 1U);
  BOOST_TEST((container.resources.devices[0].kind == "vendor.com/gpu" &&
              container.resources.devices[0].count == 2));
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
  BOOST_TEST((container.pull_policy == PullPolicy::kAlways));
  BOOST_TEST((pod.pull_secret && pull_secret_of(pod, container)->name == "pull"));
}

BOOST_AUTO_TEST_CASE(devices_are_whole_and_their_limits_count) {
  const auto resources = [](std::string_view text) {
    return revision("[{image: a, resources: " + std::string(text) + "}]");
  };
  const auto devices = [&](std::string_view text) {
    return good(resources(text)).containers[0].resources.devices;
  };
  BOOST_TEST(devices("{limits: {a.com/gpu: 2, b.com/nic: 1}, requests: {a.com/gpu: 2}}").size() ==
             2U);
  BOOST_TEST(devices("{limits: {a.com/gpu: 0}}").empty());
  BOOST_TEST(problems(resources("{limits: {a.com/gpu: 1.5}}"))
                 .contains("/limits/a.com~1gpu: must be a whole number of devices, at most 4096, "
                           "not 1.5"));
  BOOST_TEST(problems(resources("{limits: {a.com/gpu: -1}}")).contains("must be a whole number"));
  BOOST_TEST(problems(resources("{limits: {a.com/gpu: 99999}}")).contains("at most 4096"));
  BOOST_TEST(problems(resources("{requests: {a.com/gpu: 1}}"))
                 .contains("/requests/a.com~1gpu: needs a limit with the same number"));
  BOOST_TEST(problems(resources("{limits: {a.com/gpu: 2}, requests: {a.com/gpu: 1}}"))
                 .contains("must be the same number as the limit, 2"));
  BOOST_TEST(problems(resources("{limits: {gpu: 1}}")).contains("/limits/gpu: unknown name"));
}

BOOST_AUTO_TEST_CASE(what_only_a_cluster_gives_is_warned_of) {
  const std::string told = warnings(full_knative());
  for (const char* name :
       {"namespace", "timeoutSeconds", "responseStartTimeoutSeconds", "idleTimeoutSeconds",
        "serviceAccountName", "automountServiceAccountToken", "enableServiceLinks",
        "terminationMessagePath"})
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
}

BOOST_AUTO_TEST_CASE(a_limit_on_concurrent_requests_is_warned_of) {
  const std::string limited =
      with(full_knative(), "\"containerConcurrency\": 0", "\"containerConcurrency\": 5");
  BOOST_TEST(good(limited).elsewhere.empty());
  BOOST_TEST(warnings(limited).contains(
      "/containerConcurrency: has no effect: no proxy stands between a request and the container"));
  BOOST_TEST(!warnings(full_knative()).contains("containerConcurrency"));
}

BOOST_AUTO_TEST_CASE(the_platform_s_variables_are_not_the_developer_s) {  // KN-1, KN-2
  for (const char* name : {"PORT", "K_SERVICE", "K_CONFIGURATION", "K_REVISION"})
    BOOST_CHECK_MESSAGE(after("\"name\": \"A\"", std::string("\"name\": \"") + name + "\"")
                            .contains("is set by the platform"),
                        name);
  const auto sidecar = [](const char* name) {
    return problems(revision(std::string("[{name: a, image: a, ports: [{containerPort: 1}]}, "
                                         "{name: b, image: b, env: [{name: ") +
                             name + ", value: x}]}]"));
  };
  BOOST_TEST(sidecar("PORT") == "");
  BOOST_TEST(sidecar("K_SERVICE").contains("/containers/1/env/0/name: K_SERVICE is set by"));
  BOOST_TEST(problems(revision("[{image: a}]") +
                      "  initContainers: [{image: b, env: [{name: PORT, value: x}]}]\n") == "");
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
  for (const char* name : {"tty", "stdin", "lifecycle", "volumeDevices", "restartPolicy"})
    BOOST_CHECK_MESSAGE(
        problems(revision(std::string("[{image: a, ") + name + ": {a: 1}}]"))
            .contains(std::string("/containers/0/") + name + ": is not supported: "),
        name);
  for (const char* name : {"privileged", "procMount", "seLinuxOptions"})
    BOOST_CHECK_MESSAGE(
        problems(revision(std::string("[{image: a, securityContext: {") + name + ": true}}]"))
            .contains(std::string("/securityContext/") + name + ": is not supported: "),
        name);
  for (const char* name : {"hostNetwork", "hostPID", "shareProcessNamespace", "runtimeClassName",
                           "nodeSelector", "securityContext"})
    BOOST_CHECK_MESSAGE(problems(revision("[{image: a}]") + "  " + name + ": true\n")
                            .contains(std::string("/spec/") + name + ": is not supported: "),
                        name);
  for (const char* nothing : {"false", "{}", "[]", "null", ""})
    BOOST_CHECK_MESSAGE(
        problems(revision("[{image: a}]") + "  securityContext: " + nothing + "\n") == "", nothing);
  BOOST_TEST(problems(revision("[{image: a}]") + "  hostUsers: false\n").contains("not supported"));
  BOOST_TEST(problems(revision("[{image: a}]") + "  hostNetwrk: true\n").contains("unknown name"));
  BOOST_TEST(after("\"NET_BIND_SERVICE\"", "\"SYS_ADMIN\"")
                 .contains("only NET_BIND_SERVICE may be added"));
}

BOOST_AUTO_TEST_CASE(volumes_and_mounts_fit) {  // KN-24
  BOOST_TEST(after("\"name\": \"keys\", \"mountPath\"", "\"name\": \"key\", \"mountPath\"")
                 .contains("\"key\" is none of the volumes"));
  BOOST_TEST(after("\"emptyDir\": {\"medium\": \"Memory\"", "\"emptyDir\": {\"medium\": \"Disk\"")
                 .contains("/medium: must be \"Memory\" or \"\""));
  for (const char* name : {"hostPath", "projected", "downwardAPI", "csi", "nfs"})
    BOOST_CHECK_MESSAGE(after("\"emptyDir\"", std::string("\"") + name + "\": {}, \"emptyDir\"")
                            .contains(std::string("/volumes/2/") + name + ": is not supported: "),
                        name);
  BOOST_TEST(after("\"subPath\"", "\"subPathExpr\"").contains("/subPathExpr: is not supported: "));
  BOOST_TEST(after("\"secretKeyRef\": {\"name\": \"s\", \"key\": \"k\", \"optional\": true}",
                   "\"fieldRef\": {\"fieldPath\": \"metadata.name\"}")
                 .contains("/valueFrom/fieldRef: is not supported: "));
}

BOOST_AUTO_TEST_CASE(files_of_secrets_have_paths_and_modes) {
  const Pod pod = good(full_knative());
  const Volume& keys = pod.volumes[0];
  BOOST_TEST((keys.source == "s" && keys.file_mode == 0400U && keys.is_optional));
  BOOST_REQUIRE((keys.items && keys.items->size() == 1));
  const KeyFile& file = keys.items->front();
  BOOST_TEST((file.key == "k" && file.path == "d/f" && file.mode == 0440U));
  BOOST_TEST((!pod.volumes[1].items && !pod.volumes[1].file_mode && !pod.volumes[1].is_optional));
  BOOST_TEST(pod.containers[0].mounts[0].sub_path == "a/b");
  const auto mode = [](const std::string& text) {
    return good(revision("[{image: a}]") +
                "  volumes: [{name: v, configMap: {name: m, defaultMode: " + text + "}}]\n")
        .volumes[0]
        .file_mode.value_or(07777);
  };
  for (const char* text : {"0400", "256", "0o400", "0x100"}) BOOST_TEST(mode(text) == 0400U, text);
  BOOST_TEST(mode("0") == 0U);
  for (const char* bad : {"512", "-1", "\"0400\"", "1.5"})
    BOOST_CHECK_MESSAGE(after("\"defaultMode\": 256", std::string("\"defaultMode\": ") + bad)
                            .contains("/defaultMode: must be the bits of a mode"),
                        bad);
  for (const char* bad : {"/f", "../f", "a/../../f", ".", ""})
    BOOST_CHECK_MESSAGE(
        after("\"d/f\"", std::string("\"") + bad + "\"").contains("/items/0/path: must "), bad);
  for (const char* bad : {"/a", "..", "a/../b"})
    BOOST_CHECK_MESSAGE(
        after("\"a/b\"", std::string("\"") + bad + "\"").contains("/subPath: must be a relative"),
        bad);
  const std::string item = "{\"key\": \"k\", \"path\": \"d/f\", \"mode\": 288}";
  BOOST_TEST(after(item, item + ", {\"key\": \"l\", \"path\": \"d//f\"}")
                 .contains("/items/1/path: \"d//f\" is given twice"));
  BOOST_TEST(after(item, item + ", {\"key\": \"l\", \"path\": \"d\"}")
                 .contains("/items/1/path: \"d\" is a directory of the file \"d/f\""));
}

BOOST_AUTO_TEST_CASE(a_container_asks_for_a_filter) {
  const Pod pod = good(full_knative());
  BOOST_REQUIRE(pod.containers[0].seccomp.has_value());
  BOOST_TEST((pod.containers[0].seccomp->kind == SeccompRequest::Kind::kLocalhost &&
              pod.containers[0].seccomp->file == "p.json"));
  const auto profile = [](const std::string& text) {
    return problems(revision("[{image: a, securityContext: {seccompProfile: {" + text + "}}}]"));
  };
  BOOST_TEST((profile("type: RuntimeDefault") == "" && profile("type: Unconfined") == ""));
  BOOST_TEST(profile("type: Runtime").contains("unknown type of a seccomp profile \"Runtime\""));
  BOOST_TEST(profile("type: Localhost").contains("/localhostProfile: is missing"));
  BOOST_TEST(profile("type: RuntimeDefault, localhostProfile: a").contains("is only for the type"));
  for (const char* bad : {"/a", "../a"})
    BOOST_TEST(profile(std::string("type: Localhost, localhostProfile: ") + bad)
                   .contains("must be a path without"),
               bad);
}

BOOST_AUTO_TEST_CASE(containers_start_in_the_order_of_cloud_run) {
  const auto document = [](const std::string& order) {
    return "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: s}\nspec:\n"
           "  template:\n    metadata:\n      annotations:\n"
           "        run.googleapis.com/container-dependencies: '" +
           order +
           "'\n    spec:\n      containers: [{name: a, image: a, ports: [{containerPort: 1}]}, "
           "{name: b, image: b}, {name: c, image: c}]\n      initContainers: [{name: i, image: "
           "i}]\n";
  };
  const Pod pod = good(document(R"({"a": ["b", "c", "b"], "b": ["c"]})"));
  BOOST_TEST((pod.containers[0].starts_after == std::vector<std::string>{"b", "c"}));
  BOOST_TEST((pod.containers[1].starts_after == std::vector<std::string>{"c"}));
  BOOST_TEST(pod.containers[2].starts_after.empty());
  BOOST_TEST(good(document("")).containers[0].starts_after.empty());
  const std::string place = "/container-dependencies: ";
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a": ["b"], "b": ["c"], "c": ["a"]})", "can start first: a, b, c, a"},
      {R"({"a": ["b"], "b": ["b"]})", "can start first: b, b"},
      {R"({"a": ["d"]})", "there is no container \"d\" (known: a, b, c)"},
      {R"({"d": ["a"]})", "there is no container \"d\""},
      {R"({"a": ["i"]})", "\"i\" is an init container"},
      {R"({"a": "b"})", "\"a\" must have a list of containers"},
      {R"({"a": [1]})", "\"a\" must have a list of names"},
      {"[]", "must be the text of a JSON object"},
      {"{", "must be the text of a JSON object"},
  };
  for (const auto& [order, sentence] : cases)
    BOOST_CHECK_MESSAGE(problems(document(order)).contains(sentence), order);
  BOOST_TEST(
      warnings(with(full_knative(), "\"a\": \"2\"",
                    R"("run.googleapis.com/container-dependencies": "{}")"))
          .contains("has no effect here: it belongs to /spec/template/metadata/annotations"));
}

BOOST_AUTO_TEST_CASE(what_is_refused_by_a_known_name_can_be_left_out) {
  const auto ignoring = [](std::string_view text, const std::vector<std::string>& names) {
    return read_workload("f", text, names);
  };
  const std::string text = revision("[{image: a, lifecycle: {preStop: {}}, oddName: 1}]") +
                           "  nodeSelector: {gpu: yes}\n";
  Workload workload = ignoring(text, {"lifecycle", "nodeSelector", "tty"});
  BOOST_TEST(lines(workload.problems).contains("/oddName: unknown name"));
  BOOST_TEST(workload.problem_count == 1U);
  BOOST_TEST(
      lines(workload.warnings)
          .contains(
              "/lifecycle: is left out, because of --ignore lifecycle: containers have no hooks"));
  BOOST_TEST((workload.unused_ignored == std::vector<std::string>{"tty"}));
  BOOST_TEST(problems(text).contains("(--ignore nodeSelector leaves it out)"));
  workload = ignoring(text, {"lifecycle", "nodeSelector", "oddName"});
  BOOST_TEST(lines(workload.problems).contains("/oddName: unknown name"));
  const std::string scaled = with(full_knative(), "min-scale\": \"1\"", "min-scale\": \"3\"");
  workload = ignoring(scaled, {"autoscaling.knative.dev/min-scale"});
  BOOST_TEST((workload.problem_count == 0 && workload.pod.elsewhere.empty()));
  BOOST_TEST(workload.unused_ignored.empty());
  BOOST_TEST(lines(workload.warnings).contains("3 instances need several machines"));
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
