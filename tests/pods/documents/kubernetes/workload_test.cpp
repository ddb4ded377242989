// Pods, Deployments and StatefulSets of Kubernetes: what reaches the Pod, and what is refused.

#include "pods/documents/model/pod_fields.hpp"
#include "tests/pods/documents/full.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

/// A Pod with these members of its spec.
std::string pod_with(std::string_view members, std::string_view of_container = "") {
  return fmt::format(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: p, labels: {{app: x}}}}\nspec:\n"
      "  containers: [{{name: c, image: i{}{}}}]\n{}",
      of_container.empty() ? "" : ", ", of_container, members);
}
std::string problem(std::string_view members) { return problems(pod_with(members)); }
std::string problem_of_container(std::string_view members) {
  return problems(pod_with("", members));
}

constexpr std::string_view kSet = R"yaml(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: c, image: i, volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates:
    - {metadata: {name: data}, spec: {accessModes: [ReadWriteOncePod], resources: {requests: {storage: 1Gi}}}}
)yaml";

bool has(const std::string& text, std::string_view part) {
  const bool found = text.contains(part);
  if (!found) BOOST_TEST_MESSAGE(text);
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kubernetes)

BOOST_AUTO_TEST_CASE(every_attribute_reaches_the_pod) {
  const Pod pod = good(full_kubernetes());
  BOOST_TEST((pod.kind == Kind::kKubernetes && shown_kind(pod) == "Kubernetes Deployment"));
  BOOST_TEST((pod.name == "shop" && pod.restart == Restart::kAlways && pod.shares_pids));
  BOOST_TEST((pod.metadata.labels.at("tier") == "front" &&
              pod.controller_metadata->annotations.at("a") == "2" &&
              pod.metadata.annotations.at("b") == "3"));
  BOOST_TEST((pod.replicas->count == 1 && pod.elsewhere.empty()));
  BOOST_TEST((pod.grace == std::chrono::seconds(9) && pod.volume_group == Gid::make(4)));
  BOOST_REQUIRE(pod.containers.size() == 2U);
  const Container& web = pod.containers[0];
  BOOST_TEST((web.command == std::vector<std::string>{"/srv"} &&
              web.args == std::vector<std::string>{"$(A) x"} && web.working_directory == "/tmp"));
  BOOST_TEST((std::get<std::string>(web.env[3].value) == "shop" && web.env[3].is_literal));
  BOOST_TEST(std::get<std::string>(web.env[4].value) == "front");
  BOOST_TEST((web.env_sources[0].prefix == "P_" && web.env_sources[1].secret == "configmap/m"));
  BOOST_REQUIRE(pod.host_ports.size() == 1U);
  BOOST_TEST((pod.host_ports[0].number == 80 && pod.host_ports[0].address == "127.0.0.1" &&
              pod.host_ports[0].pod_port->number == 9000));
  BOOST_TEST(std::get<HttpProbe>(web.liveness->question).port == 9000);
  BOOST_TEST((web.liveness->grace == std::chrono::seconds(7) &&
              web.readiness->success_threshold == 4 && web.startup.has_value()));
  BOOST_TEST((web.resources.requests.cpus == 0.1 && web.resources.limits.memory == 1'000'000'000U));
  BOOST_REQUIRE(web.resources.devices.size() == 1U);
  BOOST_TEST((web.resources.devices[0].kind == "vendor.com/gpu" &&
              web.resources.devices[0].count == 2 && web.resources.devices[0].place != nullptr));
  BOOST_TEST((web.user == "1000" && web.group == "1001" && web.forbid_root && web.read_only_root));
  BOOST_TEST((web.security.added_capabilities == std::vector<std::string>{"CAP_NET_ADMIN"} &&
              web.security.removed_capabilities == std::vector<std::string>{"CAP_CHOWN"}));
  BOOST_TEST((web.security.selinux_label == "u:r:t:s0" && web.security.apparmor_profile == "p"));
  BOOST_TEST((web.pull_policy == PullPolicy::kAlways && pod.pull_secret->name == "pull"));
  BOOST_TEST((web.resources.requests.storage == 1U << 30));
  const Container& side = pod.containers[1];  // has what the pod says
  BOOST_TEST((side.user == "1" && side.group == "2" && !side.forbid_root &&
              side.seccomp->kind == SeccompRequest::Kind::kRuntimeDefault));
  BOOST_TEST((side.extra_groups == std::vector<Gid>{*Gid::make(3), *Gid::make(4)}));
  BOOST_TEST((pod.volumes[2].in_memory && pod.volumes[2].group == Gid::make(4)));
  BOOST_TEST((pod.volumes[4].kind == Volume::Source::kHost && !pod.volumes[4].group &&
              pod.volumes[4].source == "/srv/data"));
  BOOST_TEST((pod.kubernetes->selector.at("app") == "shop" && pod.init_containers.size() == 1));
}

BOOST_AUTO_TEST_CASE(an_extended_resource_is_a_whole_number_and_the_same_in_requests) {
  const auto with_resources = [](std::string_view resources) {
    return problem_of_container(fmt::format("resources: {}", resources));
  };
  BOOST_TEST(with_resources("{limits: {vendor.com/gpu: '2'}, requests: {vendor.com/gpu: 2}}") ==
             "");
  BOOST_TEST(has(with_resources("{limits: {vendor.com/gpu: 1.5}}"), "/limits/vendor.com~1gpu: "));
  BOOST_TEST(has(with_resources("{limits: {vendor.com/gpu: 500m}}"),
                 "must be a whole number of devices, at most 4096, not \"500m\""));
  BOOST_TEST(has(with_resources("{limits: {vendor.com/gpu: 1}, requests: {vendor.com/gpu: 2}}"),
                 "/requests/vendor.com~1gpu: must be the same number as the limit"));
  BOOST_TEST(
      has(with_resources("{requests: {vendor.com/gpu: 2}}"), "needs a limit with the same number"));
  BOOST_TEST(has(with_resources("{limits: {gpu: 1}}"), "/limits/gpu: unknown name"));
  BOOST_TEST(has(with_resources("{limits: {hugepages-2Mi: 1Gi}}"), "is not supported: containers"));
  BOOST_TEST(has(with_resources("{limits: {ephemeral-storage: 1Gi}}"), "is not supported: what"));
  BOOST_TEST(good(pod_with("", "resources: {limits: {vendor.com/gpu: 0}}"))
                 .containers[0]
                 .resources.devices.empty());
}

BOOST_AUTO_TEST_CASE(each_type_of_a_host_path_is_read) {
  const auto with_type = [](std::string_view type) {
    return pod_with(
        fmt::format("  volumes: [{{name: v, hostPath: {{path: /x, type: {}}}}}]\n", type));
  };
  for (const auto& [name, type] : kHostTypes)
    BOOST_TEST((good(with_type(name)).volumes[0].host_type == type), name);
  for (const std::string_view none : {"''", "null"})
    BOOST_TEST((good(with_type(none)).volumes[0].host_type == HostType::kAny));
  BOOST_TEST(
      has(problems(with_type("file")), "unknown type of hostPath \"file\" (did you mean File?)"));
  BOOST_TEST(has(problems(with_type("Odd")), "unknown type of hostPath \"Odd\" (known: File, "));
}

BOOST_AUTO_TEST_CASE(what_one_machine_cannot_give_is_refused_by_name) {
  for (const std::string_view member :
       {"hostPID: true", "hostIPC: true", "dnsPolicy: None", "hostname: other", "hostUsers: false",
        "activeDeadlineSeconds: 5", "ephemeralContainers: [{name: e}]",
        "hostAliases: [{ip: 127.0.0.1}]", "securityContext: {sysctls: [{name: a, value: b}]}",
        "volumes: [{name: v, nfs: {}}]", "volumes: [{name: v, projected: {}}]"})
    BOOST_TEST(has(problem(fmt::format("  {}\n", member)), " is not supported: "), member);
  for (const std::string_view member :
       {"lifecycle: {preStop: {}}", "tty: true", "restartPolicy: Always",
        "livenessProbe: {grpc: {port: 1}}", "securityContext: {privileged: true}",
        "securityContext: {procMount: Unmasked}",
        "securityContext: {appArmorProfile: {type: RuntimeDefault}}",
        "volumeMounts: [{name: v, mountPath: /v, mountPropagation: Bidirectional}]",
        "env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]",
        "env: [{name: A, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]"})
    BOOST_TEST(has(problem_of_container(member), " is not supported: "), member);
  BOOST_TEST(has(problem("  hostNetwrk: true\n"), "/spec/hostNetwrk: unknown name"));
  BOOST_TEST(has(problem("  nodeSelector: {kubernetes.io/arch: pdp11}\n"),
                 "is not supported: this host is"));
  BOOST_TEST(has(problem("  os: {name: windows}\n"),
                 "/spec/os/name: is not supported: containers of another"));
  BOOST_TEST(has(problem("  securityContext: {runAsNonRoot: true, runAsUser: 0}\n"),
                 "/spec/securityContext/runAsUser: is 0, which runAsNonRoot forbids"));
  BOOST_TEST(has(problem_of_container("securityContext: {capabilities: {add: [ALL]}}"),
                 "is not supported: ALL are too many: name each capability"));
  BOOST_TEST(has(problem_of_container("securityContext: {capabilities: {add: [FLY]}}"),
                 "unknown capability \"FLY\""));
  BOOST_TEST(has(problem_of_container("securityContext: {capabilities: {add: [NETADMIN]}}"),
                 "unknown capability \"NETADMIN\" (did you mean NET_ADMIN?)"));
  BOOST_TEST(has(problem_of_container("livenessProbe: {tcpSocket: {port: 1}, successThreshold: 2}"),
                 "must be 1 for a probe whose failure ends the container"));
  BOOST_TEST(
      has(problem_of_container("env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.x}}}]"),
          "fieldPath: must be metadata.name, metadata.namespace"));
  BOOST_TEST(has(problem_of_container("ports: [{containerPort: 1, protocol: DCCP}]"), "protocol"));
  BOOST_TEST(has(problem_of_container("ports: [{containerPort: 1, hostIP: 1.2.3}]"), "hostIP"));
  BOOST_TEST(has(
      problem_of_container("ports: [{containerPort: 1}], livenessProbe: {tcpSocket: {port: http}}"),
      "the port \"http\" is none of the container's ports"));
  BOOST_TEST(has(problem_of_container("ports: [{containerPort: 1, name: a-very-long-name}]"),
                 "/ports/0/name: must be at most 15 lower-case letters"));
  BOOST_TEST(has(problem_of_container("volumeMounts: [{name: v, mountPath: /v}]"),
                 "\"v\" is none of the volumes"));
}

BOOST_AUTO_TEST_CASE(what_means_nothing_on_one_machine_is_a_warning) {
  for (const std::string_view member :
       {"affinity: {podAffinity: {}}", "tolerations: [{key: k}]", "priorityClassName: high",
        "serviceAccountName: robot", "runtimeClassName: gvisor", "dnsPolicy: ClusterFirst",
        "nodeSelector: {disk: ssd}", "schedulerName: s", "readinessGates: [{conditionType: c}]"})
    BOOST_TEST(has(warnings(pod_with(fmt::format("  {}\n", member))), " has no effect: "), member);
  BOOST_TEST(warnings(pod_with("  automountServiceAccountToken: false\n  dnsPolicy: Default\n"
                               "  nodeSelector: {}\n")) == "");
}

BOOST_AUTO_TEST_CASE(ports_of_the_host_are_those_of_hostPort) {
  const Pod pod = good(pod_with("  hostNetwork: true\n", "ports: [{containerPort: 5}]"));
  BOOST_TEST((pod.host_ports.empty() && pod.host_network));
  BOOST_TEST(
      has(problems(pod_with("  hostNetwork: true\n", "ports: [{containerPort: 5, hostPort: 6}]")),
          "hostPort: must be the containerPort 5, because of hostNetwork"));
  BOOST_TEST(has(problem_of_container(
                     "ports: [{containerPort: 5, hostPort: 6}, {containerPort: 7, hostPort: 6}]"),
                 "the port 6 of the host is given twice"));
}

BOOST_AUTO_TEST_CASE(a_deployment_selects_its_own_pods_and_has_one_replica) {
  const auto changed = [](std::string_view from, std::string_view to) {
    return read_workload("f", with(full_kubernetes(), from, to));
  };
  const Workload many = changed("\"replicas\": 1", "\"replicas\": 3");
  BOOST_TEST(lines(many.problems) == "");
  BOOST_REQUIRE(many.pod.elsewhere.size() == 1U);
  BOOST_TEST(has(many.at(many.pod.elsewhere[0]),
                 "/spec/replicas: 3 replicas need several machines: one machine runs 1; `ocirun "
                 "pod export --to kubernetes` or `--to swarm` writes it for a cluster"));
  const Workload none = changed("\"replicas\": 1", "\"replicas\": 0");
  BOOST_REQUIRE(none.pod.elsewhere.size() == 1U);
  BOOST_TEST(has(none.at(none.pod.elsewhere[0]), "/spec/replicas: 0 replicas are no pod to run"));
  BOOST_TEST(has(
      lines(changed("\"matchLabels\": {\"app\": \"shop\"}", "\"matchLabels\": {\"app\": \"other\"}")
                .problems),
      "/spec/selector: the label app: \"other\" is not that of the template"));
  BOOST_TEST(
      has(lines(changed("\"restartPolicy\": \"Always\"", "\"restartPolicy\": \"Never\"").problems),
          "/spec/template/spec/restartPolicy: must be Always in a Deployment"));
  BOOST_TEST(has(lines(changed("\"apps/v1\"", "\"apps/v1beta1\"").problems),
                 "/apiVersion: must be apps/v1, not \"apps/v1beta1\""));
}

BOOST_AUTO_TEST_CASE(a_template_of_claims_is_a_volume_that_stays) {
  const Pod pod = good(kSet);
  BOOST_REQUIRE(pod.volumes.size() == 1U);
  const Volume& volume = pod.volumes[0];
  BOOST_TEST((volume.name == "data" && volume.source == "data-db-0" && volume.is_claimed));
  BOOST_TEST((volume.exclusive && volume.kind == Volume::Source::kOperator));
  BOOST_TEST(has(problems(with(kSet, "metadata: {name: data}", "metadata: {name: other}")),
                 "\"data\" is none of the volumes"));
}

BOOST_AUTO_TEST_CASE(the_metadata_may_stand_behind_the_spec) {
  const Pod pod = good(
      "spec: {hostname: p, containers: [{name: c, image: i, env: [{name: NAME, valueFrom: "
      "{fieldRef: "
      "{fieldPath: metadata.name}}}]}]}\nmetadata: {name: p}\nkind: Pod\napiVersion: v1\n");
  BOOST_TEST(std::get<std::string>(pod.containers[0].env[0].value) == "p");
}

BOOST_AUTO_TEST_CASE(the_pod_of_a_stateful_set_has_an_ordinal_as_its_volumes_have) {
  const std::string fields = with(
      kSet, "volumeMounts: [",
      "env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: B, valueFrom: "
      "{fieldRef: {fieldPath: \"metadata.labels['apps.kubernetes.io/pod-index']\"}}}], "
      "volumeMounts: [");
  Pod pod = good(fields);
  const auto value = [&](std::size_t index) {
    return std::get<std::string>(pod.containers[0].env[index].value);
  };
  BOOST_TEST((pod.name == "db-0" && workload_name(pod) == "db"));
  BOOST_TEST(pod.volumes[0].source == "data-db-0");
  BOOST_TEST((value(0) == "db-0" && value(1) == "0"));
  BOOST_TEST((network_alias(pod, "db-0") == "db" && network_alias(pod, "web").empty()));
  rename_pod_in_parts("db-0", pod);  // --name with its own name changes nothing
  BOOST_TEST((pod.volumes[0].source == "data-db-0" && value(0) == "db-0"));
  rename_pod_in_parts("web-7", pod);
  BOOST_TEST((pod.volumes[0].source == "data-web-7-0" && value(0) == "web-7" && value(1) == "7"));
  BOOST_TEST((network_alias(good(pod_with("")), "p").empty() && good(pod_with("")).name == "p"));
}

BOOST_AUTO_TEST_SUITE_END()
