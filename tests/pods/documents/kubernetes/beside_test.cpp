// The documents that stand beside a workload of Kubernetes in its file.

#include <fmt/format.h>

#include "pods/documents/needs.hpp"
#include "pods/prepare/plan/ports.hpp"
#include "tests/pods/documents/read.hpp"
#include "tests/pods/export/export_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

constexpr std::string_view kWeb = R"yaml(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, tier: front}}
    spec:
      containers:
        - name: web
          image: example.com/web:1
          ports: [{name: http, containerPort: 8080}]
          volumeMounts: [{name: data, mountPath: /data}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: store}}]
)yaml";

constexpr std::string_view kClaim = R"yaml(---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: store}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
)yaml";

std::string service(std::string_view spec) {
  return fmt::format(
      "---\napiVersion: v1\nkind: Service\nmetadata: {{name: front}}\nspec: {{selector: {{app: "
      "web}}, "
      "{}}}\n",
      spec);
}

std::string autoscaler(std::string_view target) {
  return fmt::format(
      "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: web}}\n"
      "spec: {{scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {}}}, minReplicas: "
      "2, "
      "maxReplicas: 5, metrics: [{{type: Resource}}]}}\n",
      target);
}

std::string web(std::string_view beside) { return fmt::format("{}{}", kWeb, beside); }

/// "HOSTPORT>PORT" of all ports of the host that lead to the pod.
std::string forwards(const std::string& text) {
  const Pod pod = good(text);
  std::string out;
  for (const Forward& forward : forwards_of(pod))
    out += fmt::format("{}>{} ", forward.host_port, forward.pod_port);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kubernetes_beside)

BOOST_AUTO_TEST_CASE(a_claim_of_the_file_is_a_volume_that_ocirun_keeps) {
  const Pod without = good(kWeb);
  BOOST_TEST(needs_of(without).size() == 1U);
  const Pod pod = good(web(kClaim));
  BOOST_TEST(needs_of(pod).empty());
  BOOST_TEST((pod.volumes[0].is_claimed && !pod.volumes[0].exclusive));
  const Pod alone = good(web(with(kClaim, "ReadWriteOnce", "ReadWriteOncePod")));
  BOOST_TEST(alone.volumes[0].exclusive);
  BOOST_TEST(good(web(with(kClaim, "ReadWriteOnce", "ReadOnlyMany"))).volumes[0].shares_with_all);
  BOOST_TEST(problems(web(with(kClaim, "ReadWriteOnce", "WriteOnly")))
                 .contains("/spec/accessModes/0: unknown access mode \"WriteOnly\""));
  BOOST_TEST(problems(web(with(kClaim, "accessModes:", "volumeMode: Block, accessModes:")))
                 .contains("/spec/volumeMode: is not supported: a volume is a directory"));
  BOOST_TEST(warnings(web(with(kClaim, "name: store", "name: other")))
                 .contains("nothing in the workload uses the claim \"other\""));
}

BOOST_AUTO_TEST_CASE(a_service_opens_ports_of_the_host_that_reach_the_machine_from_outside) {
  BOOST_TEST(forwards(web("")) == "");
  BOOST_TEST(forwards(web(service("ports: [{port: 80, targetPort: http}]"))) == "");
  BOOST_TEST(forwards(web(service("type: NodePort, ports: [{port: 80, targetPort: http, nodePort: "
                                  "30080}]"))) == "30080>8080 ");
  BOOST_TEST(forwards(web(service("type: LoadBalancer, ports: [{port: 80, targetPort: 8080}]"))) ==
             "80>8080 ");
  BOOST_TEST(forwards(web(service("type: LoadBalancer, ports: [{port: 90}]"))) == "90>90 ");
  BOOST_TEST(warnings(web(service("ports: [{port: 80, targetPort: 8080}]")))
                 .contains("nothing stands in front of the pod, whose own port is 8080"));
  BOOST_TEST(warnings(web(service("type: NodePort, ports: [{port: 8080}]")))
                 .contains("has no nodePort, which a cluster would choose"));
  BOOST_TEST(warnings(web(service("clusterIP: None, ports: [{port: 8080}]"))) == "");
  BOOST_TEST(
      good(web(service("ports: [{port: 80, targetPort: http}]"))).containers[0].ports[0].service ==
      80);
}

BOOST_AUTO_TEST_CASE(a_service_of_other_pods_or_of_other_ports_is_told) {
  const std::string other = with(service("ports: [{port: 80}]"), "app: web", "app: other");
  BOOST_TEST(warnings(web(other)).contains("its selector is not that of the pod of this file"));
  BOOST_TEST(forwards(web(with(service("type: LoadBalancer, ports: [{port: 80}]"), "app: web",
                               "app: other"))) == "");
  BOOST_TEST(problems(web(service("ports: [{port: 80, targetPort: dns}]")))
                 .contains("/targetPort: the port \"dns\" is none of the containers' ports"));
  BOOST_TEST(problems(web(service("type: ExternalName")))
                 .contains("/spec/type: is not supported: ExternalName gives"));
  const std::string external =
      problems(web(service("externalName: a.example, type: ExternalName")));
  BOOST_TEST((external.contains("/spec/type: ") && !external.contains("/spec/externalName: ")));
  BOOST_TEST(problems(web(service("externalName: a.example")))
                 .contains("/spec/externalName: is not supported"));
  BOOST_TEST(problems(web(service("externalIPs: [192.0.2.1]")))
                 .contains("/spec/externalIPs: is not supported: --publish"));
  BOOST_TEST(problems(web(service("selektor: {}"))).contains("/spec/selektor: unknown name"));
  const std::string both = service("type: LoadBalancer, ports: [{port: 80, targetPort: 8080}]") +
                           service("type: LoadBalancer, ports: [{port: 80, targetPort: 9090}]");
  BOOST_TEST(problems(web(both)).contains("the port 80 of the host is given twice"));
}

BOOST_AUTO_TEST_CASE(an_autoscaler_needs_several_machines) {
  const Workload workload = read_workload("f", web(autoscaler("web")));
  BOOST_TEST(lines(workload.problems) == "");
  BOOST_REQUIRE(workload.pod.elsewhere.size() == 1U);
  BOOST_TEST(workload.at(workload.pod.elsewhere[0])
                 .contains("/spec/maxReplicas: automatic scaling needs several machines: one "
                           "machine runs 1 replica; `ocirun pod export"));
  BOOST_TEST(workload.at(workload.pod.elsewhere[0])
                 .ends_with("(--ignore HorizontalPodAutoscaler leaves it out)"));
  const std::vector<std::string> member{"maxReplicas"};  // an autoscaler without it is invalid
  BOOST_TEST((read_workload("f", web(autoscaler("web")), member).unused_ignored == member));
  BOOST_TEST((workload.pod.scaling->most == 5U));
  const std::vector<std::string> ignored{"HorizontalPodAutoscaler"};
  BOOST_TEST(read_workload("f", web(autoscaler("web")), ignored).pod.elsewhere.empty());
  BOOST_TEST(warnings(web(autoscaler("other"))).contains("it scales another workload"));
  BOOST_TEST(problems(web(with(autoscaler("web"), "maxReplicas: 5", "maxReplicas: 1")))
                 .contains("is 1, below minReplicas 2"));
}

BOOST_AUTO_TEST_CASE(other_kinds_and_second_workloads_are_refused_by_name) {
  BOOST_TEST(problems(web("---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\n"))
                 .contains("/kind: the kind Job is not supported: write the template of its pods"));
  const std::string second =
      problems(fmt::format("{}---{}", kWeb, with(kWeb, "{name: web}", "{name: api}")));
  BOOST_TEST(
      second.contains("is a second workload, the Deployment \"api\"; the first is the "
                      "Deployment \"web\" at line 2: each is a pod of its own, and needs a "
                      "file and an `ocirun pod run` of its own"));
  BOOST_TEST(problems(std::string(kClaim)).contains("the file has no workload"));
  BOOST_TEST(warnings(web("---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"))
                 .contains("there are no namespaces of a cluster"));
}

BOOST_AUTO_TEST_CASE(an_export_copies_them_and_an_autoscaler_follows_its_workload) {
  const std::string file =
      web(std::string(kClaim) +
          service("type: LoadBalancer, ports: [{port: 80, targetPort: http}]") + autoscaler("web"));
  const std::string text = exported(file);
  BOOST_TEST(text.contains("  type: LoadBalancer\n"));
  BOOST_TEST(text.contains("  metrics:\n    - type: Resource\n"));
  BOOST_TEST(text.contains("claimName: store\n"));
  BOOST_TEST(!text.contains("hostPort"));
  BOOST_TEST(exported(text) == text);
  const std::string renamed = exported(file, {.name = "shop"});
  BOOST_TEST(renamed.contains("    kind: Deployment\n    name: shop\n"));
  BOOST_TEST(renamed.contains("kind: Service\nmetadata:\n  name: front\n"));
  BOOST_TEST(exported(file, {.kind = ExportedKind::kPod}).contains("a Pod does not scale"));
  BOOST_TEST(exported(file, {.kind = ExportedKind::kStatefulSet})
                 .contains("    kind: StatefulSet\n    name: web\n"));
  const std::string secret =
      web("---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: hidden}\n");
  BOOST_TEST(!exported(secret).contains("hidden"));
}

BOOST_AUTO_TEST_SUITE_END()
