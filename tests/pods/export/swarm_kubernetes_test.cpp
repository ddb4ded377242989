// What documents of Kubernetes say for a stack of Docker Swarm.

#include <fmt/format.h>

#include "tests/pods/documents/full.hpp"
#include "tests/pods/export/export_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

/// The stack of a document, or the error.
std::string swarm_of(std::string_view text, const ExportOptions& options = {}) {
  return exported(text, options, export_to_swarm);
}

/// A Pod with members of the pod's spec and of its container.
std::string pod_with(std::string_view of_spec, std::string_view of_container = "") {
  return fmt::format(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: shop, labels: {{app: shop}}}}\nspec:\n"
      "{}  containers:\n    - name: web\n      image: example.com/web\n{}",
      of_spec.empty() ? "" : fmt::format("  {}\n", of_spec),
      of_container.empty() ? "" : fmt::format("      {}\n", of_container));
}

constexpr std::string_view kNodePort = R"(      ports: [{name: http, containerPort: 8080}]
      livenessProbe: {exec: {command: [test, -e, /up]}}
---
apiVersion: v1
kind: Service
metadata: {name: shop}
spec: {type: NodePort, selector: {app: shop}, ports: [{port: 80, targetPort: 8080, nodePort: 30080}]}
)";

/// A container that mounts two keys of a secret with a name of `length` letters.
std::string with_secret(std::size_t length) {
  return pod_with(
      fmt::format("volumes: [{{name: v, secret: {{secretName: {}, items: [{{key: a, path: a}}, "
                  "{{key: b, path: b}}]}}}}]",
                  std::string(length, 's')),
      "volumeMounts: [{name: v, mountPath: /v}]");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exports_of_kubernetes_to_swarm)

BOOST_AUTO_TEST_CASE(capabilities_are_added_dropped_or_all_but_some_are_dropped) {
  const auto stack_with = [](std::string_view change) {
    return swarm_of(pod_with("", fmt::format("securityContext: {{capabilities: {{{}}}}}", change)));
  };
  const std::string added = stack_with("add: [NET_ADMIN]");
  BOOST_TEST(added.contains("    cap_add:\n      - CAP_NET_ADMIN\n"));
  BOOST_TEST(!added.contains("cap_drop"));
  BOOST_TEST(stack_with("add: [NET_ADMIN], drop: [CHOWN]")
                 .contains("    cap_drop:\n      - CAP_CHOWN\n"
                           "    cap_add:\n      - CAP_NET_ADMIN\n"));
  BOOST_TEST(stack_with("add: [NET_ADMIN], drop: [ALL]")
                 .contains("    cap_drop:\n      - ALL\n    cap_add:\n      - CAP_NET_ADMIN\n"));
}

BOOST_AUTO_TEST_CASE(two_keys_of_a_secret_with_a_long_name_are_two_secrets) {
  const std::string text = swarm_of(with_secret(60));
  std::vector<std::string> names;
  for (std::size_t at = 0; (at = text.find("- source: ", at)) != std::string::npos; ++at)
    names.push_back(text.substr(at + 10, text.find('\n', at) - at - 10));
  BOOST_REQUIRE_MESSAGE(names.size() == 2U, text);
  BOOST_TEST(names[0] != names[1]);
  for (const std::string& name : names) {
    BOOST_TEST(name.size() <= 64U);
    BOOST_TEST(text.contains(fmt::format("\n  {}:\n    external: true\n", name)));
    BOOST_TEST(text.contains(fmt::format("(docker secret create {} FILE)", name)));
  }
  BOOST_TEST(swarm_of(with_secret(5)).contains("\n  sssss_a:\n    external: true\n"));
}

BOOST_AUTO_TEST_CASE(two_secrets_whose_ids_end_alike_are_two_secrets) {
  Workload workload = read_workload("f", R"(
name: shop
properties:
  containers:
    web: {image: web, volumeMounts: {a: {volumeName: a, mountPath: /a}, b: {volumeName: b, mountPath: /b}}}
  volumes: {a: {secretId: /one/db}, b: {secretId: /two/db}}
)");
  for (Volume& volume : workload.pod.volumes)
    volume.items.emplace().push_back(
        {.key = "password", .path = "password", .mode = std::nullopt, .place = volume.place});
  const auto made = export_workload(std::move(workload), {}, export_to_swarm);
  BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().message()));
  BOOST_TEST(made->text.contains("\n  db_password:\n    external: true\n"));
  BOOST_TEST(made->text.contains("\n  db_password-"));
}

BOOST_AUTO_TEST_CASE(a_node_port_is_open_on_each_node_and_does_not_hinder_an_update) {
  const std::string text = swarm_of(pod_with("") + std::string(kNodePort));
  BOOST_TEST(text.contains("      - target: 8080\n        published: 30080\n"));
  BOOST_TEST(!text.contains("mode: host"));
  BOOST_TEST(text.contains("order: start-first"));
  BOOST_TEST(swarm_of(pod_with("") + std::string(kNodePort), {.port_mode = PortMode::kHost})
                 .contains("        published: 30080\n        mode: host\n"));
  const std::string of_host =
      swarm_of(pod_with("", "ports: [{containerPort: 8080, hostPort: 80}]"));
  BOOST_TEST(of_host.contains("        published: 80\n        mode: host\n"));
}

BOOST_AUTO_TEST_CASE(members_that_ask_for_nothing_are_left_out_and_a_host_name_stays) {
  const std::string text =
      swarm_of(pod_with("dnsPolicy: Default\n  automountServiceAccountToken: false\n  hostUsers: "
                        "true\n  nodeSelector: {}\n  tolerations: []\n  hostname: shop"));
  BOOST_TEST(text.contains("\nservices:\n"));
  BOOST_TEST(text.contains("    hostname: shop\n"));
  BOOST_TEST(!text.contains("only a cluster"));
  BOOST_TEST(!swarm_of(pod_with("")).contains("hostname"));
}

BOOST_AUTO_TEST_CASE(members_for_a_cluster_are_errors_and_no_warnings) {
  const std::string text = pod_with("dnsPolicy: ClusterFirst\n  priorityClassName: high");
  const std::string error = swarm_of(text);
  BOOST_TEST(error.contains("/spec/dnsPolicy: only a cluster of Kubernetes honours this"));
  BOOST_TEST(error.contains("/spec/priorityClassName: only a cluster of Kubernetes honours this"));
  BOOST_TEST(lines(read_workload("f", text).swarm_warnings) == "");
  BOOST_TEST(lines(read_workload("f", text).warnings).contains("one machine runs all pods"));
  const std::string message = pod_with("", "terminationMessagePath: /x");
  BOOST_TEST(lines(read_workload("f", message).swarm_warnings).contains("terminationMessagePath"));
}

BOOST_AUTO_TEST_CASE(a_host_path_is_named_as_what_it_is_and_a_device_is_a_loss) {
  const auto of_type = [](std::string_view type) {
    return swarm_of(
        pod_with(fmt::format("volumes: [{{name: v, hostPath: {{path: /x, type: {}}}}}]", type),
                 "volumeMounts: [{name: v, mountPath: /v}]"));
  };
  const std::pair<std::string_view, std::string_view> kForms[] = {
      {"''", "directory"}, {"Directory", "directory"}, {"DirectoryOrCreate", "directory"},
      {"File", "file"},    {"FileOrCreate", "file"},   {"Socket", "socket"}};
  for (const auto& [type, form] : kForms) {
    const std::string stack = of_type(type);
    BOOST_TEST(stack.contains(fmt::format("the {} /x on each node", form)), stack);
    BOOST_TEST(stack.contains("      - type: bind\n        source: /x\n"), stack);
  }
  for (const std::string_view type : {"CharDevice", "BlockDevice"})
    BOOST_TEST(
        of_type(type).contains("/spec/volumes/0/hostPath/type: the containers of a service "
                               "may not open devices of the host"));
}

BOOST_AUTO_TEST_CASE(losses_name_members_that_the_document_has) {
  BOOST_TEST(swarm_of(pod_with("", "resources: {requests: {memory: 1Mi}}"))
                 .contains("/spec/containers/0/resources/requests/memory: 1048576 bytes"));
  BOOST_TEST(swarm_of(pod_with("", "resources: {limits: {memory: 1Mi}}"))
                 .contains("/spec/containers/0/resources/limits/memory: 1048576 bytes"));
  const auto context = [](std::string_view member) {
    return fmt::format("securityContext: {{{}}}", member);
  };
  const std::string_view groups = "supplementalGroups: [7]", volumes = "fsGroup: 8";
  const std::string profile = "appArmorProfile: {type: Localhost, localhostProfile: p}";
  BOOST_TEST(swarm_of(pod_with(context(groups)))
                 .contains("/spec/securityContext/supplementalGroups: a service has the"));
  const std::string of_volumes = swarm_of(pod_with(context(volumes)));
  BOOST_TEST(of_volumes.contains("/spec/securityContext/fsGroup: Docker changes no owner"));
  BOOST_TEST(!of_volumes.contains("additional groups"));
  BOOST_TEST(swarm_of(pod_with(context(profile)))
                 .contains("/spec/securityContext/appArmorProfile: a service cannot choose"));
  BOOST_TEST(
      swarm_of(pod_with("", context(profile)))
          .contains("/spec/containers/0/securityContext/appArmorProfile: a service cannot choose"));
  BOOST_TEST(swarm_of(pod_with(context("runAsGroup: 7")))
                 .contains("/spec/securityContext/runAsGroup: the group 7 needs a user"));
  BOOST_TEST(swarm_of(pod_with("", context("runAsNonRoot: true")))
                 .contains("/spec/containers/0/securityContext/runAsNonRoot: Swarm does not ask"));
  BOOST_TEST(swarm_of(pod_with("hostNetwork: true"))
                 .contains("/spec/hostNetwork: a stack has no service in the network"));
}

BOOST_AUTO_TEST_CASE(small_memory_of_other_documents_is_named_with_its_member) {
  constexpr std::string_view kRadius =
      "name: shop\nproperties: {containers: {web: {image: web, resources: {limits: {memoryInMib: "
      "1}}}}}\n";
  BOOST_TEST(swarm_of(kRadius).contains(
      "/properties/containers/web/resources/limits/memoryInMib: 1048576 bytes"));
  const ExportOptions worker{.images = {{"worker", "example.com/worker:1"}}};
  const std::string appc = with(full_appc(), R"("limit": "1G")", R"("limit": "1Mi")");
  BOOST_TEST(swarm_of(with(appc, R"("request": "512M", )", ""), worker)
                 .contains("/apps/0/app/isolators: 1048576 bytes of memory"));
}

BOOST_AUTO_TEST_SUITE_END()
