#include "tests/pods/documents/full.hpp"
#include "tests/pods/export/export_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

/// The stack of a document, or the error.
std::string stack(std::string_view text, const ExportOptions& options = {}) {
  return exported(text, options, export_to_swarm);
}

constexpr std::string_view kOamShop = R"yaml(
apiVersion: core.oam.dev/v1alpha2
kind: ContainerizedWorkload
metadata: {name: shop, labels: {tier: front}}
spec:
  containers:
    - name: web
      image: example.com/web:1
      cmd: [httpd, -f]
      args: ["$(HOME)"]
      env: [{name: PRICE, value: "$5 {{.Node.ID}}"}]
      config: [{path: /etc/motd, value: "hello\n"}]
      ports: [{name: http, containerPort: 8080}, {name: dns, containerPort: 53, protocol: UDP}]
      livenessProbe: {exec: {command: [test, -e, /up]}, initialDelaySeconds: 4, periodSeconds: 2}
      resources:
        cpu: {required: 0.1}
        memory: {required: 64M}
        gpu: {required: 2}
        volumes:
          - {name: data, mountPath: /data, sharingPolicy: Shared, disk: {required: 2G}}
          - {name: tmp, mountPath: /tmp/x, disk: {required: 1G, ephemeral: true}}
)yaml";

constexpr std::string_view kRadiusShop = R"yaml(
name: shop
properties:
  containers:
    web:
      image: example.com/web:1
      env: {A: {value: a}, B: {value: "$(A)b"}}
      ports: {http: {containerPort: 8080, port: 80}}
      resources: {requests: {cpu: 0.5}, limits: {cpu: 1, memoryInMiB: 100}}
      livenessProbe: {exec: {command: [test, -e, /up]}}
  replicas: 3
)yaml";

constexpr std::string_view kKnativeShop = R"yaml(
apiVersion: v1
kind: ConfigMap
metadata: {name: m}
data: {k: v, file.txt: "a$b\n"}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {key: hidden}
---
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: shop}
spec:
  template:
    spec:
      imagePullSecrets: [{name: pull}]
      containers:
        - image: example.com/web
          env: [{name: K, valueFrom: {configMapKeyRef: {name: m, key: k}}}]
          securityContext: {runAsUser: 7, runAsGroup: 8, runAsNonRoot: true, capabilities: {drop: [ALL]}}
          volumeMounts:
            - {name: conf, mountPath: /conf}
            - {name: keys, mountPath: /keys}
            - {name: tmp, mountPath: /tmp}
      volumes:
        - {name: conf, configMap: {name: m, items: [{key: file.txt, path: a/b}]}}
        - {name: keys, secret: {secretName: s, defaultMode: 256}}
        - {name: tmp, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
)yaml";

std::string appc_shop() {
  return R"({"acVersion": "0.8.11", "acKind": "PodManifest",
  "apps": [{"name": "worker", "image": {"id": "sha512-)" +
         std::string(128, 'a') + R"("},
    "app": {"exec": ["/bin/worker"], "user": "0", "group": "wheel", "workingDirectory": "/tmp",
      "mountPoints": [{"name": "work", "path": "/work"}],
      "ports": [{"name": "ftp", "port": 21, "protocol": "tcp"}],
      "isolators": [{"name": "resource/memory", "value": {"limit": "64Mi"}},
                    {"name": "os/linux/capabilities-retain-set", "value": {"set": ["CAP_CHOWN"]}}]},
    "readOnlyRootFS": true, "mounts": [{"volume": "data", "path": "/work"}],
    "annotations": [{"name": "foo", "value": "baz"}]}],
  "volumes": [{"name": "data", "kind": "host", "source": "/srv/data", "readOnly": true}],
  "ports": [{"name": "ftp", "hostPort": 2121}]})";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exports_to_swarm)

BOOST_AUTO_TEST_CASE(an_oam_workload_becomes_a_service_with_its_configs_and_volumes) {
  const auto made = export_text(kOamShop, {}, export_to_swarm);
  BOOST_REQUIRE(made);
  BOOST_TEST(made->files.size() == 1U);
  BOOST_TEST(made->files.at("configs/web.motd") == "hello\n");
  BOOST_TEST(made->text == R"yaml(# docker stack deploy --compose-file FILE shop
# Needs the label shop.volumes=true on one node, which keeps the volume "data", with 2G free (docker node update --label-add shop.volumes=true NODE)
# Needs 1G free on each node, for the volume "tmp"
# Needs nodes that announce the generic resource "gpu" (node-generic-resources in daemon.json)
version: "3.8"
services:
  web:
    image: example.com/web:1
    entrypoint:
      - httpd
      - "-f"
    command:
      - "$$(HOME)"
    environment:
      PRICE: "$$5 {{\"{{\"}}.Node.ID}}"
    ports:
      - target: 8080
        published: 8080
      - target: 53
        published: 53
        protocol: udp
    volumes:
      - type: volume
        source: data
        target: /data
      - type: volume
        target: /tmp/x
        volume:
          nocopy: true
    configs:
      - source: web.motd
        target: /etc/motd
    healthcheck:
      test:
        - CMD
        - test
        - "-e"
        - /up
      interval: "2s"
      timeout: "1s"
      retries: 3
      start_period: "4s"
    stop_grace_period: "30s"
    deploy:
      update_config:
        order: start-first
      placement:
        constraints:
          - "node.labels.shop.volumes == true"
      resources:
        reservations:
          cpus: "0.1"
          memory: "64M"
          generic_resources:
            - discrete_resource_spec:
                kind: gpu
                value: 2
      labels:
        tier: front
volumes:
  data: {}
configs:
  web.motd:
    name: shop-web.motd-5891b5b5
    file: "./configs/web.motd"
)yaml");
}

BOOST_AUTO_TEST_CASE(a_radius_resource_keeps_its_replicas_and_the_port_of_its_service) {
  BOOST_TEST(stack(kRadiusShop) == R"yaml(# docker stack deploy --compose-file FILE shop
version: "3.8"
services:
  web:
    image: example.com/web:1
    environment:
      A: a
      B: ab
    ports:
      - target: 8080
        published: 80
    healthcheck:
      test:
        - CMD
        - test
        - "-e"
        - /up
      interval: "10s"
      timeout: "1s"
      retries: 3
    stop_grace_period: "30s"
    deploy:
      replicas: 3
      update_config:
        order: start-first
      resources:
        limits:
          cpus: "1"
          memory: "100M"
        reservations:
          cpus: "0.5"
)yaml");
}

BOOST_AUTO_TEST_CASE(config_maps_of_a_knative_service_are_configs_and_secrets_are_external) {
  BOOST_TEST(stack(kKnativeShop)
                 .contains("/spec/template/spec/containers/0: requests come before the program "
                           "listens on port 8080"));
  const auto made = export_text(kKnativeShop, {.lossy = true}, export_to_swarm);
  BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().message()));
  BOOST_TEST(made->files.at("configs/m.file.txt") == "a$b\n");
  BOOST_TEST(!made->text.contains("hidden"));
  BOOST_TEST(made->text == R"yaml(# docker stack deploy --compose-file FILE shop
# Needs the credentials of "pull" for the registry (docker login, and docker stack deploy --with-registry-auth)
# Needs the secret "s_key", which is the key "key" of "s" (docker secret create s_key FILE)
# Differs: f:20:11: /spec/template/spec/containers/0: requests come before the program listens on port 8080: Swarm asks no port
version: "3.8"
services:
  user-container:
    image: example.com/web
    environment:
      K: v
      PORT: "8080"
      K_SERVICE: shop
      K_CONFIGURATION: shop
      K_REVISION: shop-00001
    user: "7:8"
    cap_drop:
      - ALL
    ports:
      - target: 8080
        published: 8080
    volumes:
      - type: tmpfs
        target: /tmp
        tmpfs:
          size: 1048576
    configs:
      - source: m.file.txt
        target: /conf/a/b
    secrets:
      - source: s_key
        target: /keys/key
        mode: 0400
    stop_grace_period: "30s"
configs:
  m.file.txt:
    name: shop-m.file.txt-975a2301
    file: "./configs/m.file.txt"
secrets:
  s_key:
    external: true
)yaml");
}

BOOST_AUTO_TEST_CASE(an_app_container_pod_keeps_its_port_of_the_host) {
  const ExportOptions options{.images = {{"worker", "example.com/worker:1"}}};
  BOOST_TEST(stack(appc_shop(), options) == R"yaml(# docker stack deploy --compose-file FILE shop
# Needs the directory /srv/data on each node
version: "3.8"
services:
  worker:
    image: example.com/worker:1
    entrypoint:
      - /bin/worker
    environment:
      AC_APP_NAME: worker
    working_dir: /tmp
    user: "0:wheel"
    read_only: true
    cap_drop:
      - ALL
    cap_add:
      - CAP_CHOWN
    ports:
      - target: 21
        published: 2121
        mode: host
    volumes:
      - type: bind
        source: /srv/data
        target: /work
        read_only: true
    stop_grace_period: "30s"
    labels:
      appc.foo: baz
    deploy:
      restart_policy:
        condition: none
      resources:
        limits:
          memory: "64M"
)yaml");
}

BOOST_AUTO_TEST_CASE(one_loss_is_a_comment_and_more_are_comments) {
  const std::string probe =
      with(kRadiusShop, "{exec: {command: [test, -e, /up]}}", "{tcpSocket: {port: 8080}}");
  BOOST_TEST(stack(probe).ends_with("; --lossy writes it as a comment"));
  BOOST_TEST(stack(with(probe, "  replicas: 3", "    side: {image: side}"))
                 .ends_with("; --lossy writes these 2 as comments"));
}

BOOST_AUTO_TEST_CASE(several_containers_are_no_pod_in_swarm) {
  const std::string text = with(kRadiusShop, "  replicas: 3", "    side: {image: side}");
  BOOST_TEST(stack(text).contains(
      "/properties/containers/side: the 2 containers of the pod share localhost, and start, stop "
      "and move together"));
  const std::string lossy = stack(text, {.lossy = true});
  BOOST_TEST(lossy.contains("# Differs: "));
  BOOST_TEST(lossy.contains("\n  web:\n"));
  BOOST_TEST(lossy.contains("\n  side:\n"));
}

BOOST_AUTO_TEST_CASE(an_init_container_is_left_out) {
  const std::string text =
      with(kRadiusShop, "  replicas: 3", "  initContainers: {first: {image: a}}");
  BOOST_TEST(stack(text).contains("/properties/initContainers/first: \"first\" runs before"));
  BOOST_TEST(!stack(text, {.lossy = true}).contains("image: a\n"));
}

BOOST_AUTO_TEST_CASE(scaling_is_by_hand) {
  const std::string text =
      with(kRadiusShop, "replicas: 3",
           "replicas: 3\n  autoScaling: {maxReplicas: 5, metric: {kind: cpu, target: "
           "{averageUtilization: 60}}}");
  BOOST_TEST(stack(text).contains("/properties/autoScaling: Swarm does not scale automatically"));
  BOOST_TEST(stack(text, {.lossy = true}).contains("      replicas: 3\n"));
}

BOOST_AUTO_TEST_CASE(instances_and_traffic_of_knative_are_named) {
  const std::string text =
      with(with(full_knative(), R"(min-scale": "1")", R"(min-scale": "3")"),
           R"("percent": 100, "latestRevision": true)", R"("percent": 90, "latestRevision": true)");
  const std::string error = stack(text);
  BOOST_TEST(error.contains("min-scale: Swarm does not scale automatically"));
  BOOST_TEST(error.contains("/spec/traffic: traffic to anything but 100 percent"));
  BOOST_TEST(error.contains("which Swarm does not have"));
}

BOOST_AUTO_TEST_CASE(two_containers_never_become_one_service) {
  const std::string text = with(kOamShop, "    - name: web\n      image: example.com/web:1",
                                "    - {name: Web.1, image: a}\n    - {name: web-1, image: b}\n"
                                "    - name: web\n      image: example.com/web:1");
  const std::string lossy = stack(text, {.lossy = true});
  BOOST_TEST(lossy.contains("\n  web-1:\n    image: a\n"));
  BOOST_TEST(lossy.contains("\n  web-1-2:\n    image: b\n"));
}

BOOST_AUTO_TEST_CASE(labels_of_docker_itself_and_a_user_who_may_be_root_are_refused) {
  ExportOptions options;
  options.given.labels = {{"com.docker.swarm.task", "x"}};
  BOOST_TEST(
      stack(kRadiusShop, options).contains("\"com.docker.swarm.task\" is one of Docker's own"));
  options = {};
  options.given.forbid_root = true;
  BOOST_TEST(stack(kRadiusShop, options).contains("f: --forbid-root: Swarm does not ask"));
  options.given.user = "7";
  BOOST_TEST(stack(kRadiusShop, options).contains("    user: \"7\"\n"));
}

BOOST_AUTO_TEST_CASE(a_probe_over_the_network_is_no_health_check) {
  const std::string text =
      with(kRadiusShop, "{exec: {command: [test, -e, /up]}}", "{httpGet: {path: /h, port: 8080}}");
  BOOST_TEST(
      stack(text).contains("the liveness probe asks http://:8080/h: Swarm only runs a command"));
  const std::string lossy = stack(text, {.lossy = true});
  BOOST_TEST(!lossy.contains("healthcheck"));
  BOOST_TEST(!lossy.contains("start-first"));
}

BOOST_AUTO_TEST_CASE(a_readiness_probe_alone_is_not_what_a_health_check_is) {
  const std::string text = with(kRadiusShop, "livenessProbe", "readinessProbe");
  BOOST_TEST(stack(text).contains("/readinessProbe: Swarm replaces a container that fails"));
  BOOST_TEST(stack(text, {.lossy = true}).contains("    healthcheck:\n"));
}

BOOST_AUTO_TEST_CASE(a_startup_probe_with_the_same_question_gives_the_time_to_start) {
  const auto with_startup = [](const auto& change) {
    Workload workload = read_workload("f", kRadiusShop);
    Container& container = workload.pod.containers.front();
    container.startup = container.liveness;
    container.startup->period = std::chrono::seconds(5);
    container.startup->failure_threshold = 4;
    change(*container.startup);
    return export_workload(std::move(workload), {}, export_to_swarm);
  };
  const auto made = with_startup([](Probe&) {});
  BOOST_REQUIRE(made);
  BOOST_TEST(made->text.contains("      start_period: \"20s\"\n"));
  const auto other =
      with_startup([](Probe& startup) { startup.question = ExecProbe{.command = {"other"}}; });
  BOOST_REQUIRE(!other);
  BOOST_TEST(
      other.error().message().contains("a container has one health check, with one command"));
}

BOOST_AUTO_TEST_CASE(options_choose_how_nodes_lead_to_containers) {
  const std::string text =
      stack(kRadiusShop, {.port_mode = PortMode::kHost, .endpoint_mode = EndpointMode::kDnsrr});
  BOOST_TEST(text.contains("        published: 80\n        mode: host\n"));
  BOOST_TEST(text.contains("      endpoint_mode: dnsrr\n"));
  BOOST_TEST(!text.contains("start-first"));  // the port of the node is not free
}

BOOST_AUTO_TEST_CASE(ports_that_all_nodes_open_do_not_go_with_addresses_of_containers) {
  const auto made =
      export_text(kRadiusShop, {.endpoint_mode = EndpointMode::kDnsrr}, export_to_swarm);
  BOOST_REQUIRE(!made);
  BOOST_TEST(made.error().message().contains("--endpoint-mode dnsrr: needs --port-mode host"));
}

BOOST_AUTO_TEST_CASE(variables_from_secrets_are_lost_and_named) {
  const std::string text = with(kRadiusShop, "A: {value: a}",
                                "A: {valueFrom: {secretKeyRef: {secretId: /x/db, key: password}}}");
  BOOST_TEST(stack(text).contains(
      "/properties/containers/web/env/A: A: the secret \"/x/db\" can become a file in Swarm"));
}

BOOST_AUTO_TEST_CASE(an_exclusive_volume_is_for_one_replica) {
  const std::string text = with(kOamShop, "sharingPolicy: Shared, ", "");
  BOOST_TEST(!stack(text).contains("start-first"));
  const std::string radius =
      with(with(kRadiusShop, "  replicas: 3",
                "  replicas: 3\n  volumes: {v: {persistentVolume: {resourceId: /v}}}"),
           "ports:", "volumeMounts: {m: {volumeName: v, mountPath: /v}}\n      ports:");
  BOOST_TEST(
      stack(radius).contains("accessMode is ReadWriteOnce, and there may be several replicas"));
}

BOOST_AUTO_TEST_CASE(names_that_swarm_refuses_are_losses_with_their_place) {
  BOOST_TEST(stack(with(kOamShop, "- name: web", "- name: Web.1"))
                 .contains("f:7:13: /spec/containers/0/name: the name of a service must be"));
  BOOST_TEST(stack(with(kOamShop, "{tier: front}", "{com.docker.stack.namespace: other}"))
                 .contains("/metadata/labels/com.docker.stack.namespace: the label"));
  BOOST_TEST(stack(with(kRadiusShop, "{A: {value: a}", "{\"A{{x}}\": {value: a}"))
                 .contains("the name of a variable must not contain \"{{\""));
  BOOST_TEST(stack(with(kOamShop, "name: shop,", "name: a.b,")).contains("(--name a-b)"));
}

BOOST_AUTO_TEST_CASE(memory_below_four_mebibytes_is_refused) {
  BOOST_TEST(
      stack(with(kOamShop, "required: 64M", "required: 1M"))
          .contains("/resources/memory/required: 1048576 bytes of memory: must be at least"));
}

BOOST_AUTO_TEST_CASE(an_empty_config_file_is_refused) {
  BOOST_TEST(stack(with(kOamShop, "value: \"hello\\n\"", "value: \"\""))
                 .contains("/spec/containers/0/config/0: a config of Swarm cannot be empty"));
}

BOOST_AUTO_TEST_CASE(two_config_files_of_one_name_are_two_configs) {
  const auto made =
      export_text(with(kOamShop, "config: [",
                       "config: [{path: /a/motd, value: a}, {path: /b/motd, value: a}, "),
                  {}, export_to_swarm);
  BOOST_REQUIRE(made);
  BOOST_TEST(made->files.size() == 2U);
  BOOST_TEST(made->files.at("configs/web.motd") == "a");
  BOOST_TEST(made->files.at("configs/web.motd.2") == "hello\n");
  BOOST_TEST(made->text.contains("      - source: web.motd\n        target: /b/motd\n"));
  BOOST_TEST(made->text.contains("      - source: web.motd.2\n        target: /etc/motd\n"));
}

BOOST_AUTO_TEST_SUITE_END()
