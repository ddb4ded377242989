#include "tests/pods/documents/full.hpp"
#include "tests/pods/export/export_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

constexpr std::string_view kOam = R"yaml(
apiVersion: core.oam.dev/v1alpha2
kind: ContainerizedWorkload
metadata: {name: shop}
spec:
  containers:
    - name: web
      image: example.com/web:1
      args: ["$(HOME)", "$$", "a$b"]
      env:
        - {name: PRICE, value: "$(cat price)"}
        - {name: SECRET, fromSecret: {name: db, key: password}}
      ports: [{name: http, containerPort: 8080}]
      resources:
        cpu: {required: 0.1}
        memory: {required: 64M}
        volumes:
          - {name: data, mountPath: /data, disk: {required: 2G}}
)yaml";

constexpr std::string_view kRadius = R"yaml(
name: shop
properties:
  containers:
    web: {image: web, env: {A: {value: "$(B)"}}, resources: {requests: {cpu: 0.5}}}
  replicas: 2
  autoScaling:
    maxReplicas: 5
    metrics:
      - {kind: cpu, target: {averageUtilization: 60}}
      - {kind: memory, target: {averageValue: 1000}}
      - {kind: custom, customMetric: queue, target: {value: 9}}
)yaml";

bool has(std::string_view text, std::string_view part) { return text.contains(part); }

}  // namespace

BOOST_AUTO_TEST_SUITE(exports_to_kubernetes)

BOOST_AUTO_TEST_CASE(an_oam_workload_becomes_a_deployment_a_service_and_a_claim) {
  BOOST_TEST(exported(kOam) == R"yaml(# Needs the Secret "db"
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: shop-data
  labels:
    app.kubernetes.io/instance: shop
spec:
  accessModes:
    - ReadWriteOncePod
  resources:
    requests:
      storage: "2Gi"
---
apiVersion: v1
kind: Service
metadata:
  name: shop
  labels:
    app.kubernetes.io/instance: shop
spec:
  selector:
    app.kubernetes.io/instance: shop
  ports:
    - name: http
      port: 8080
      targetPort: 8080
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
  labels:
    app.kubernetes.io/instance: shop
spec:
  strategy:
    type: Recreate
  selector:
    matchLabels:
      app.kubernetes.io/instance: shop
  template:
    metadata:
      labels:
        app.kubernetes.io/instance: shop
    spec:
      containers:
        - name: web
          image: example.com/web:1
          args:
            - "$$(HOME)"
            - "$$$"
            - "a$b"
          env:
            - name: PRICE
              value: "$$(cat price)"
            - name: SECRET
              valueFrom:
                secretKeyRef:
                  name: db
                  key: password
          ports:
            - name: http
              containerPort: 8080
          resources:
            requests:
              cpu: "100m"
              memory: "64Mi"
          volumeMounts:
            - name: data
              mountPath: /data
      volumes:
        - name: data
          persistentVolumeClaim:
            claimName: shop-data
)yaml");
}

BOOST_AUTO_TEST_CASE(replicas_become_an_autoscaler_with_each_kind_of_metric) {
  const std::string text = exported(kRadius);
  BOOST_TEST(has(text, "kind: HorizontalPodAutoscaler\n"));
  BOOST_TEST(has(text, "  minReplicas: 2\n  maxReplicas: 5\n"));
  BOOST_TEST(!has(text, "  replicas:"));  // the autoscaler's
  BOOST_TEST(has(text,
                 "    - type: Resource\n      resource:\n        name: cpu\n        target:\n"
                 "          type: Utilization\n          averageUtilization: 60\n"));
  BOOST_TEST(has(text,
                 "        name: memory\n        target:\n"
                 "          type: AverageValue\n          averageValue: \"1000\"\n"));
  BOOST_TEST(has(text,
                 "    - type: External\n      external:\n        metric:\n"
                 "          name: queue\n        target:\n"
                 "          type: Value\n          value: \"9\"\n"));
  BOOST_TEST(has(text, "value: \"$(B)\"\n"));  // Radius has references to variables
  BOOST_TEST(has(exported(with(kRadius, "{value: 9}", "{averageValue: 9}")), "type: Pods\n"));
  BOOST_TEST(has(exported(with(kRadius, "{averageValue: 1000}", "{value: 1000}")),
                 "f:11:40: /properties/autoScaling/metrics/1/target/value: must be"));
  BOOST_TEST(has(exported(with(kRadius, "    maxReplicas: 5\n", "")),
                 "/properties/autoScaling/maxReplicas: is missing"));
  BOOST_TEST(has(exported(with(kRadius, "maxReplicas: 5", "maxReplicas: 1")),
                 "maxReplicas: is 1, below the 2 replicas"));
  const auto made = export_text(kRadius);
  BOOST_REQUIRE(made);
  BOOST_TEST(lines(made->notes).empty());
  BOOST_TEST(has(lines(export_text(with(kRadius, "cpu: 0.5", "memoryInMiB: 5"))->notes),
                 "the container \"web\" requests no cpu"));
}

BOOST_AUTO_TEST_CASE(a_stateful_set_has_a_headless_service_and_templates_of_claims) {
  const std::string text = exported(kOam, {.kind = ExportedKind::kStatefulSet});
  BOOST_TEST(has(text, "kind: StatefulSet\n"));
  BOOST_TEST(has(text, "  clusterIP: None\n"));
  BOOST_TEST(has(text, "  serviceName: shop\n"));
  BOOST_TEST(has(text, "  volumeClaimTemplates:\n    - metadata:\n        name: data\n"));
  BOOST_TEST(!has(text, "kind: PersistentVolumeClaim"));
  BOOST_TEST(!has(text, "claimName"));
}

BOOST_AUTO_TEST_CASE(a_pod_that_is_not_restarted_is_no_deployment) {
  ExportOptions options;
  options.given.restart = Restart::kNever;
  const auto made = export_text(kOam, options);
  BOOST_REQUIRE(made);
  BOOST_TEST(has(made->text, "kind: Pod\n"));
  BOOST_TEST(has(made->text, "  restartPolicy: Never\n"));
  BOOST_TEST(has(lines(made->notes), "becomes a Pod"));
  options.kind = ExportedKind::kDeployment;
  BOOST_TEST(has(exported(kOam, options), "error: f: the containers are not always restarted"));
  BOOST_TEST(has(exported(with(kRadius, "name: shop", "name: shop"), {.kind = ExportedKind::kPod}),
                 "/properties/replicas: a Pod is one"));
}

BOOST_AUTO_TEST_CASE(an_exclusive_volume_is_not_for_several_replicas) {
  const std::string text = fmt::format("{}\n---\n{}", R"(
apiVersion: core.oam.dev/v1alpha2
kind: ApplicationConfiguration
metadata: {name: app}
spec:
  components:
    - componentName: shop
      traits: [{trait: {kind: ManualScalerTrait, spec: {replicaCount: 3}}}])",
                                       R"(
apiVersion: core.oam.dev/v1alpha2
kind: Component
metadata: {name: shop}
spec:
  workload:
    apiVersion: core.oam.dev/v1alpha2
    kind: ContainerizedWorkload
    spec:
      containers:
        - name: web
          image: web
          resources: {cpu: {required: 1}, memory: {required: 1M},
                      volumes: [{name: d, mountPath: /d, disk: {required: 1G}}]}
)");
  BOOST_TEST(has(exported(text), "sharingPolicy is Exclusive, and there may be several replicas"));
  BOOST_TEST(has(exported(text, {.kind = ExportedKind::kStatefulSet}), "  replicas: 3\n"));
  const std::string shared = with(text, "name: d,", "name: d, sharingPolicy: Shared,");
  BOOST_TEST(has(exported(shared), "- ReadWriteMany\n"));
}

BOOST_AUTO_TEST_CASE(a_size_writes_the_claim_of_a_volume_without_one) {
  const std::string text =
      with(kRadius, "  replicas: 2", "  volumes: {v: {persistentVolumeId: /x/v}}");
  BOOST_TEST(has(exported(text),
                 "# Needs the PersistentVolumeClaim \"shop-v\" for /x/v (--size "
                 "v=SIZE writes it)\n"));
  const std::string sized = exported(text, {.sizes = {{"v", 3U << 20}}});
  BOOST_TEST(has(sized, "kind: PersistentVolumeClaim\n"));
  BOOST_TEST(has(sized, "      storage: \"3Mi\"\n"));
}

BOOST_AUTO_TEST_CASE(names_that_kubernetes_refuses_are_losses_with_their_place) {
  BOOST_TEST(has(exported(with(kOam, "- name: web", "- name: Web_1")),
                 "f:7:13: /spec/containers/0/name: the name of a container"));
  BOOST_TEST(has(exported(with(kOam, "name: http,", "name: abcdefghijklmnop,")),
                 "/spec/containers/0/ports/0/name: the name of a port"));
  BOOST_TEST(has(exported(with(kOam, "name: PRICE", "name: 1PRICE")),
                 "/spec/containers/0/env/0/name: the name of a variable"));
  BOOST_TEST(
      has(exported(with(kOam, "{name: db,", "{name: D_B,")), "cannot be the name of a Secret"));
  BOOST_TEST(has(exported(with(kOam, "{name: shop}", "{name: shop, labels: {a b: c}}")),
                 "f:4:38: /metadata/labels/a b: the label \"a b\""));
  BOOST_TEST(has(exported(with(kOam, "{name: shop}", "{name: shop, annotations: {a/b/c: d}}")),
                 "/metadata/annotations/a~1b~1c: the annotation"));
  BOOST_TEST(has(exported(with(kOam, "{name: shop}", "{name: Shop.1}")), "(--name shop-1)"));
  const std::string lossy = exported(with(kOam, "- name: web", "- name: Web_1"), {.lossy = true});
  BOOST_TEST(has(lossy, "# Differs: f:7:13: /spec/containers/0/name: "));
  BOOST_TEST(has(lossy, "        - name: web-1\n"));
}

BOOST_AUTO_TEST_CASE(limits_of_a_whole_app_container_pod_are_those_of_its_only_app) {
  const std::string app =
      R"({"name": "a", "image": {"id": "sha512-)" + std::string(128, 'a') + R"("},
    "app": {"exec": ["/x"], "user": "0", "group": "0"}})";
  const auto manifest = [&](const std::string& apps) {
    return R"({"acVersion": "0.8.11", "acKind": "PodManifest", "apps": [)" + apps +
           R"(], "isolators": [{"name": "resource/memory", "value": {"limit": "1Gi"}}]})";
  };
  const ExportOptions options{.images = {{"a", "example.com/a"}, {"b", "example.com/b"}}};
  BOOST_TEST(has(exported(manifest(app), options), "            memory: \"1Gi\"\n") ==
             false);  // a Pod is two levels less deep
  BOOST_TEST(has(exported(manifest(app), options), "        limits:\n          memory: \"1Gi\"\n"));
  BOOST_TEST(has(exported(manifest(app + "," + with(app, "\"a\"", "\"b\"")), options),
                 "/isolators: there are no limits of several containers"));
  BOOST_TEST(has(exported(manifest(app)), "--image a=docker://REFERENCE"));
}

BOOST_AUTO_TEST_CASE(ports_of_the_host_stay_with_an_app_container) {
  const std::string text =
      exported(full_appc(), {.images = {{"worker", "example.com/w"}}, .lossy = true});
  BOOST_TEST(has(text,
                 "          containerPort: 21\n          hostPort: 2121\n"
                 "          hostIP: \"203.0.113.23\"\n"));
  BOOST_TEST(has(text, "  shareProcessNamespace: true\n"));
  BOOST_TEST(has(text, "            - name: AC_APP_NAME\n") == false);
  BOOST_TEST(has(text, "        - name: AC_APP_NAME\n          value: worker\n"));
}

BOOST_AUTO_TEST_CASE(the_class_of_ocirun_comes_with_its_object) {
  const std::string own = exported(kOam, {.runtime_class = "ocirun"});
  BOOST_TEST(has(own, "kind: RuntimeClass\nmetadata:\n  name: ocirun\nhandler: ocirun\n"));
  BOOST_TEST(has(own, "      runtimeClassName: ocirun\n"));
  const std::string other = exported(kOam, {.runtime_class = "kata"});
  BOOST_TEST(has(other, "# Needs the RuntimeClass \"kata\"\n"));
  BOOST_TEST(!has(other, "kind: RuntimeClass"));
}

BOOST_AUTO_TEST_CASE(secrets_of_the_file_stay_out_and_config_maps_go_along) {
  const std::string text = exported(full_list());
  BOOST_TEST(has(text, "# Needs the Secret \"s\"\n"));
  BOOST_TEST(!has(text, "kind: Secret\n"));
  BOOST_TEST(!has(text, "aGVs"));
  BOOST_TEST(!has(text, "plain"));
  BOOST_TEST(has(text, "kind: ConfigMap\n"));
  BOOST_TEST(!has(text, "# Needs the ConfigMap"));
  BOOST_TEST(has(text, "kind: Service\n"));
}

BOOST_AUTO_TEST_CASE(options_change_a_knative_document_as_they_change_its_run) {
  ExportOptions options{.runtime_class = "ocirun"};
  options.name = "renamed";
  options.images = {{"example/hello", "r.example.com/hello:2"}};
  options.given.variables = {{"A", "$(x)"}, {"NEW", "n"}};
  options.given.labels = {{"team", "red"}};
  options.given.user = "7:8";
  options.given.port = 9001;
  options.given.requests = Requests::kHard;
  const std::string text = exported(full_knative(), options);
  BOOST_TEST(has(text, "  name: renamed\n"));
  BOOST_TEST(has(text, "image: r.example.com/hello:2\n"));
  BOOST_TEST(has(text,
                 "env:\n            - name: NEW\n              value: \"n\"\n"
                 "            - name: A\n              value: \"$$(x)\"\n"));
  BOOST_TEST(has(text, "        team: red\n"));
  BOOST_TEST(has(text, "runAsUser: 7\n"));
  BOOST_TEST(has(text, "runAsGroup: 8\n"));
  BOOST_TEST(has(text, "containerPort: 9001\n"));
  BOOST_TEST(has(text, "tcpSocket:\n              port: 9001\n"));
  BOOST_TEST(has(text, "port: http1\n"));
  BOOST_TEST(has(text, "runtimeClassName: ocirun\n"));
}

BOOST_AUTO_TEST_CASE(a_knative_document_becomes_a_deployment_for_a_cluster_without_knative) {
  constexpr std::string_view kSmall = R"(
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: shop}
spec:
  template: {spec: {containers: [{image: x, ports: [{containerPort: 9000}]}]}}
  traffic: [{percent: 100, latestRevision: true}]
)";
  const ExportOptions deployment{.kind = ExportedKind::kDeployment};
  const std::string text = exported(kSmall, deployment);
  BOOST_TEST(has(text, "kind: Deployment\n"));
  BOOST_TEST(has(text, "port: 80\n"));
  BOOST_TEST(has(text, "targetPort: 9000\n"));
  for (const char* name : {"PORT", "K_SERVICE", "K_CONFIGURATION", "K_REVISION"})
    BOOST_TEST(has(text, fmt::format("- name: {}\n", name)), name);
  BOOST_TEST(has(exported(with(kSmall, "percent: 100, latestRevision: true",
                               "percent: 100, revisionName: old"),
                          deployment),
                 "/spec/traffic: Knative does this"));
}

BOOST_AUTO_TEST_CASE(a_knative_document_keeps_what_one_machine_cannot_do) {
  std::string text =
      with(full_knative(), R"("percent": 100, "latestRevision": true)",
           R"("percent": 90, "latestRevision": true}, {"percent": 10, "revisionName": "old")");
  text = with(text, R"(min-scale": "1")", R"(min-scale": "3")");
  const auto made = export_text(text);
  BOOST_REQUIRE(made);
  BOOST_TEST(has(made->text, "revisionName: old\n"));
  BOOST_TEST(has(made->text, "autoscaling.knative.dev/min-scale: \"3\"\n"));
}

BOOST_AUTO_TEST_CASE(words_that_are_booleans_in_yaml_1_1_become_booleans) {
  const std::string text = exported(R"(
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: s, resourceVersion: "5"}
spec:
  template:
    spec:
      automountServiceAccountToken: no
      containers: [{image: x, env: [{name: A, value: "no"}], securityContext: {runAsNonRoot: y}}]
)");
  BOOST_TEST(has(text, "automountServiceAccountToken: false\n"));
  BOOST_TEST(has(text, "runAsNonRoot: true\n"));
  BOOST_TEST(has(text, "value: \"no\"\n"));
  BOOST_TEST(!has(text, "resourceVersion"));
}

BOOST_AUTO_TEST_CASE(words_of_a_pod_become_booleans_and_its_class_is_replaced) {
  const std::string text = exported(R"(
apiVersion: v1
kind: Pod
metadata: {name: shop}
spec: {hostUsers: yes, containers: [{name: web, image: x}]}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: other}
handler: other
)",
                                    {.runtime_class = "ocirun"});
  BOOST_TEST(has(text, "hostUsers: true\n"));
  BOOST_TEST(has(text, "handler: ocirun\n"));
  BOOST_TEST(!has(text, "handler: other\n"));
}

BOOST_AUTO_TEST_CASE(a_text_of_the_document_stays_in_its_comment) {
  const std::string text = exported(
      with(kOam, "{name: shop}", "{name: shop, labels: {\"a\\nkind: Evil\\u2028k: v\": c}}"),
      {.lossy = true});
  BOOST_TEST(has(text, "# Differs: "));
  BOOST_TEST(!has(text, "\nkind: Evil"));
  BOOST_TEST(!has(text, "\u2028"));
}

BOOST_AUTO_TEST_SUITE_END()
