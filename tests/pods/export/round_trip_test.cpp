// Pod to Kubernetes to Pod: what an export writes is read again, gives the same Pod as far as both
// kinds of documents can say it, and is exported as the same text.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "linux/base/text.hpp"
#include "pods/prepare/plan/bindings.hpp"
#include "tests/must.hpp"
#include "tests/pods/documents/full.hpp"
#include "tests/pods/export/export_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

// Each function writes down what must stay the same.

std::string shown(const std::optional<Probe>& probe) {
  if (!probe) return "none";
  std::string question;
  if (const auto* exec = std::get_if<ExecProbe>(&probe->question))
    question = fmt::format("exec {}", fmt::join(exec->command, " "));
  if (const auto* tcp = std::get_if<TcpProbe>(&probe->question))
    question = fmt::format("tcp {}", tcp->port);
  if (const auto* http = std::get_if<HttpProbe>(&probe->question)) {
    question = fmt::format("http {} {} {}", http->path, http->port, http->tls);
    for (const HttpHeader& header : http->headers)
      question += fmt::format(" {}={}", header.name, header.value);
  }
  return fmt::format("{} after {} every {} in {} {}/{} grace {}", question,
                     probe->initial_delay.count(), probe->period.count(), probe->timeout.count(),
                     probe->success_threshold, probe->failure_threshold,
                     probe->grace.value_or(std::chrono::seconds(-1)).count());
}

std::string shown(const EnvVariable& variable, bool has_references) {
  if (const auto* key = std::get_if<SecretKey>(&variable.value))
    return fmt::format("{} of {}/{} {}", variable.name,
                       key->secret.substr(key->secret.rfind('/') + 1), key->key, key->is_optional);
  // The export writes "$$" for the "$" of a text without references.
  const std::string& text = std::get<std::string>(variable.value);
  const bool is_text = variable.is_literal || !has_references;
  return fmt::format("{}={}", variable.name, is_text ? text : must(expand(text, {}, text.size())));
}

std::string shown(const std::optional<std::vector<std::string>>& words, bool has_references) {
  if (!words) return "the image's";
  std::string text;
  for (const std::string& word : *words)
    text += fmt::format("[{}]", has_references ? must(expand(word, {}, word.size())) : word);
  return text;
}

std::string shown(const Amounts& amounts) {
  return fmt::format("{} CPUs {} bytes", amounts.cpus.value_or(0), amounts.memory.value_or(0));
}

std::string shown(const Security& security) {
  return fmt::format(
      "only {} removed {} nnp {} apparmor {} selinux {}",
      fmt::join(
          security.retained_capabilities.value_or(std::vector<std::string>{"the default ones"}),
          " "),
      fmt::join(security.removed_capabilities, " "), security.no_new_privileges.value_or(false),
      security.apparmor_profile, security.selinux_label);
}

/// The parts of a container that Kubernetes can say.
std::string shown(const Pod& pod, const Container& container) {
  const bool has_references = pod.kind != Kind::kOam && pod.kind != Kind::kAppc;
  std::string text = fmt::format(
      "{} image {} command {} args {} in {}\n user {} group {} nonroot {} read-only {}\n {}\n",
      container.name, container.image, shown(container.command, has_references),
      shown(container.args, has_references), container.working_directory, container.user,
      container.group, container.forbid_root, container.read_only_root, shown(container.security));
  for (const Gid gid : container.extra_groups) text += fmt::format(" gid {}\n", gid.value());
  for (const EnvVariable& variable : container.env)
    text += " env " + shown(variable, has_references) + "\n";
  for (const Port& port : container.ports)
    text +=
        fmt::format(" port {} {} {}\n", port.name, port.number, static_cast<int>(port.protocol));
  text += fmt::format(" requests {} limits {}\n", shown(container.resources.requests),
                      shown(container.resources.limits));
  text += fmt::format(" liveness {}\n readiness {}\n startup {}\n", shown(container.liveness),
                      shown(container.readiness), shown(container.startup));
  for (const Mount& mount : container.mounts)
    text += fmt::format(" mount {} at {} {} {}\n", mount.volume, mount.path, mount.read_only,
                        mount.sub_path);
  return text;
}

std::string shown(const Pod& pod) {
  std::string text = fmt::format("{} restart {} pids {} replicas {} pull {}\n", workload_name(pod),
                                 static_cast<int>(pod.restart), pod.shares_pids,
                                 pod.replicas ? pod.replicas->count : 1,
                                 pod.pull_secret ? pod.pull_secret->name : "");
  for (const Container* container : all_containers(pod)) text += shown(pod, *container);
  for (const Volume& volume : pod.volumes)
    text +=
        fmt::format("volume {} {} memory {} most {} read-only {} items {}\n", volume.name,
                    static_cast<int>(volume.kind), volume.in_memory, volume.most_bytes.value_or(0),
                    volume.read_only, volume.items ? volume.items->size() : 0);
  return text;
}

struct Trip {
  Pod before, after;
  std::string first, second;  // exports
};

void must_be_written(const Result<Exported>& made) {
  BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().message()));
}

/// Exports a document, reads the output, and exports that again.
Trip travel(std::string_view text, const ExportOptions& options = {}) {
  Trip trip;
  Workload workload = read_workload("f", text);
  BOOST_TEST(lines(workload.problems) == "");
  const auto completed = complete_by(options, std::move(workload));
  BOOST_REQUIRE_MESSAGE(completed, (completed ? "" : completed.error().message()));
  auto made = export_completed(*completed, options, export_to_kubernetes);
  must_be_written(made);
  trip.first = made->text;
  trip.before = completed->pod();
  Workload again = read_workload("g", trip.first);
  BOOST_TEST(lines(again.problems) == "");
  BOOST_TEST((again.pod.kind == Kind::kKubernetes));
  trip.after = again.pod;
  const auto second =
      export_workload(std::move(again), {.name = options.name}, export_to_kubernetes);
  must_be_written(second);
  trip.second = second->text;
  return trip;
}

/// The lines of `text` without comments: the second export does not repeat what is lost.
std::vector<std::string> lines_without_comments(std::string_view text) {
  std::vector<std::string> kept;
  for (const std::string_view line : linux::split(text, '\n'))
    if (!line.starts_with('#')) kept.emplace_back(line);
  return kept;
}

void is_stable(const Trip& trip) {
  const auto first = lines_without_comments(trip.first);
  const auto second = lines_without_comments(trip.second);
  BOOST_CHECK_EQUAL_COLLECTIONS(first.begin(), first.end(), second.begin(), second.end());
}

constexpr std::string_view kOamTraveller = R"yaml(
apiVersion: core.oam.dev/v1alpha2
kind: ContainerizedWorkload
metadata: {name: shop, labels: {tier: front}, annotations: {owner: me}}
spec:
  containers:
    - name: web
      image: example.com/web:1
      cmd: [/bin/httpd, "$(HOME)"]
      args: ["$$", "a$b"]
      env: [{name: PRICE, value: "$(cat price)"}, {name: SECRET, fromSecret: {name: db, key: password}}]
      ports: [{name: http, containerPort: 8080}, {name: dns, containerPort: 53, protocol: UDP}]
      livenessProbe: {exec: {command: [/bin/true, x]}, initialDelaySeconds: 1, periodSeconds: 2,
                      timeoutSeconds: 3, failureThreshold: 5}
      readinessProbe: {httpGet: {path: /ready, port: 8080, httpHeaders: [{name: X-A, value: b}]}}
      imagePullSecret: registry
      resources:
        cpu: {required: 0.1}
        memory: {required: 64M}
        volumes:
          - {name: data, mountPath: /data, disk: {required: 2G}}
          - {name: tmp, mountPath: /scratch, accessMode: RO, disk: {required: 1G, ephemeral: true}}
)yaml";

constexpr std::string_view kRadiusTraveller = R"yaml(
name: shop
properties:
  containers:
    web:
      image: example/web:1
      command: [/bin/httpd]
      args: [-f, "$(A)"]
      workingDir: /srv
      env: {A: {value: x}, B: {valueFrom: {secretKeyRef: {secretId: /secrets/db, key: password}}}}
      ports: {http: {containerPort: 8080, port: 80}}
      volumeMounts: {m: {mountPath: /tmp, volumeName: tmp}, k: {mountPath: /keys, volumeName: keys}}
      resources: {requests: {cpu: 0.1, memoryInMib: 64}, limits: {cpu: 1, memoryInMiB: 128}}
      livenessProbe: {httpGet: {path: /, port: http, scheme: HTTPS}, terminationGracePeriodSeconds: 3}
      readinessProbe: {tcpSocket: {port: 8080}, successThreshold: 2}
  initContainers: {first: {image: a}, second: {image: b}}
  volumes: {tmp: {emptyDir: {medium: memory}}, keys: {secretId: /secrets/db}}
  replicas: 2
  autoScaling: {maxReplicas: 5, metrics: [{kind: cpu, target: {averageUtilization: 60}}]}
)yaml";

}  // namespace

BOOST_AUTO_TEST_SUITE(round_trips)

BOOST_AUTO_TEST_CASE(of_an_oam_workload) {
  Trip trip = travel(kOamTraveller);
  is_stable(trip);
  // A claim has no free space that a document could require; a pull secret is that of the pod.
  trip.before.pull_secret = trip.before.containers[0].pull_secret;
  BOOST_TEST(shown(trip.before) == shown(trip.after));
  BOOST_TEST((trip.after.metadata.annotations.at("owner") == "me" &&
              trip.after.metadata.labels.at("tier") == "front"));
  BOOST_TEST((trip.after.volumes[0].is_claimed && trip.after.volumes[0].source == "shop-data"));
  BOOST_TEST((trip.before.volumes[0].exclusive && trip.after.volumes[0].exclusive));
  for (const ExportedKind kind : {ExportedKind::kPod, ExportedKind::kStatefulSet}) {
    Trip other = travel(kOamTraveller, {.kind = kind});
    is_stable(other);
    other.before.pull_secret = other.before.containers[0].pull_secret;
    // The claims of a StatefulSet's templates stand behind the other volumes.
    std::ranges::sort(other.before.volumes, {}, &Volume::name);
    std::ranges::sort(other.after.volumes, {}, &Volume::name);
    BOOST_TEST(shown(other.before) == shown(other.after));
  }
}

BOOST_AUTO_TEST_CASE(of_a_radius_resource) {
  const Trip trip = travel(kRadiusTraveller);
  is_stable(trip);
  // The replicas are the autoscaler's.
  Pod expected = trip.before;
  expected.replicas.reset();
  BOOST_TEST(shown(expected) == shown(trip.after));
  BOOST_TEST((trip.after.scaling && trip.after.scaling->most == 5U));
  BOOST_TEST(trip.after.containers[0].ports[0].service == 80);  // of the Service
  BOOST_TEST(trip.after.elsewhere.size() == 1U);
  BOOST_TEST(lines(read_workload("g", trip.first).warnings).contains("nothing stands in front"));
}

BOOST_AUTO_TEST_CASE(of_all_attributes) {
  const ExportOptions options{.parameters = {{"p", "v"}, {"cache.host", "h"}},
                              .images = {{"worker", "example.com/worker:1"}},
                              .lossy = true,
                              .name = "shop"};
  for (const std::string& text :
       {full_oam(), full_appc(), full_radius(), full_radius_core(), full_kubernetes()})
    is_stable(travel(text, options));
}

BOOST_AUTO_TEST_CASE(of_an_app_container_with_its_own_restart_and_ports) {
  const Trip trip = travel(
      full_appc(), {.images = {{"worker", "example.com/worker:1"}}, .lossy = true, .name = "shop"});
  BOOST_TEST((trip.after.kubernetes->kind == "Pod" && trip.after.restart == Restart::kNever &&
              trip.after.shares_pids));
  BOOST_REQUIRE(trip.after.host_ports.size() == 1U);
  const HostPort& port = trip.after.host_ports[0];
  BOOST_TEST(
      (port.number == 2121 && port.address == "203.0.113.23" && port.pod_port->number == 21));
  BOOST_TEST((trip.after.containers[0].extra_groups == trip.before.containers[0].extra_groups));
  BOOST_TEST(shown(trip.after.containers[0].security) == shown(trip.before.containers[0].security));
}

BOOST_AUTO_TEST_CASE(of_a_knative_service_is_none_because_it_stays_one) {
  BOOST_TEST(exported(full_knative()).contains("kind: Service\n"));
  BOOST_TEST((good(exported(full_knative())).kind == Kind::kKnative));
}

BOOST_AUTO_TEST_CASE(of_a_config_file_which_becomes_a_file_of_a_config_map) {
  const Trip trip = travel(with(kOamTraveller, "imagePullSecret: registry",
                                "config: [{path: /etc/motd, value: \"a\\nb\\n\"}]"));
  is_stable(trip);
  BOOST_TEST(trip.after.key_documents.at("configmap/shop-config").keys.at("web.motd").bytes ==
             "a\nb\n");
  const Mount& mount = trip.after.containers[0].mounts.back();
  BOOST_TEST((mount.path == "/etc/motd" && mount.sub_path == "web.motd" && mount.read_only));
}

BOOST_AUTO_TEST_SUITE_END()
