// OAM's Component and ApplicationConfiguration, around a ContainerizedWorkload (OAM-1 … OAM-3,
// OAM-12).

#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

constexpr std::string_view kComponent = R"(apiVersion: core.oam.dev/v1alpha2
kind: Component
metadata: {name: web, annotations: {owner: me}}
spec:
  workload:
    apiVersion: core.oam.dev/v1alpha2
    kind: ContainerizedWorkload
    spec:
      containers:
        - name: main
          image: example/web
          ports: [{name: http, containerPort: 80}]
  parameters:
    - {name: instance-name, required: true, fieldPaths: [metadata.name]}
    - {name: image, fieldPaths: ["spec.containers[0].image"]}
    - {name: port, fieldPaths: ["spec.containers[0].ports[0].containerPort"]}
)";

constexpr std::string_view kConfiguration = R"(---
apiVersion: core.oam.dev/v1alpha2
kind: ApplicationConfiguration
metadata: {name: shop, namespace: default}
spec:
  components:
    - componentName: web
      parameterValues:
        - {name: instance-name, value: shop-web}
        - {name: image, value: example/web:2}
        - {name: port, value: 8080}
      traits:
        - trait: {apiVersion: core.oam.dev/v1alpha2, kind: ManualScalerTrait, spec: {replicaCount: 1}}
      scopes:
        - scopeRef: {apiVersion: core.oam.dev/v1alpha2, kind: HealthScope, name: health}
)";

std::string both() { return std::string(kComponent) + std::string(kConfiguration); }
std::string problems_of_application(std::string_view from, std::string_view to) {
  return problems(with(both(), from, to));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(oam_application)

BOOST_AUTO_TEST_CASE(the_values_of_parameters_reach_the_workload) {
  const Pod pod = good(both());
  BOOST_TEST((pod.name == "shop-web" && pod.metadata.annotations.at("owner") == "me"));
  BOOST_REQUIRE(pod.containers.size() == 1U);
  BOOST_TEST(pod.containers[0].image == "example/web:2");
  BOOST_TEST(pod.containers[0].ports[0].number == 8080);
  BOOST_TEST(pod.elsewhere.empty());
  const std::string warned = warnings(both());
  for (const char* sentence :
       {"/metadata/namespace: has no effect", "the scope \"health\" is a group of components",
        "/spec/workload/spec/containers/0: has no resources, which OAM requires"})
    BOOST_CHECK_MESSAGE(warned.contains(sentence), sentence);
}

BOOST_AUTO_TEST_CASE(a_component_alone_is_its_workload) {
  const std::string alone = with(kComponent, "required: true, ", "");
  const Pod pod = good(alone);
  BOOST_TEST((pod.name == "web" && pod.containers[0].image == "example/web"));
  BOOST_TEST(problems(kComponent)
                 .contains("/spec/parameters/0: the parameter \"instance-name\" is "
                           "required"));
  BOOST_TEST(problems(with(alone, "    kind: ContainerizedWorkload", "    kind: Deployment")) ==
             "f:7:11: /spec/workload/kind: must be ContainerizedWorkload, the one workload of a "
             "component that is run, not \"Deployment\"\n");
}

BOOST_AUTO_TEST_CASE(a_variable_may_be_a_key_of_a_secret) {  // OAM-15, as public documents have it
  const std::string_view ports = "ports: [{name: http, containerPort: 80}]";
  const std::string secret =
      with(both(), ports,
           std::string(ports) + "\n          env: [{name: A, fromSecret: {name: s, key: k}}]");
  const auto key = std::get<SecretKey>(good(secret).containers[0].env.at(0).value);
  BOOST_TEST((key.secret == "s" && key.key == "k"));
  BOOST_TEST(problems(with(secret, "fromSecret", "value: x, fromSecret"))
                 .contains("must not have both value and fromSecret"));
}

BOOST_AUTO_TEST_CASE(traits_are_refused_by_name) {
  BOOST_TEST(problems_of_application("kind: ManualScalerTrait", "kind: IngressTrait")
                 .contains("/traits/0/trait: is not supported: the trait IngressTrait is one of a "
                           "cluster (--ignore IngressTrait leaves it out)"));
  const Pod pod = good(with(both(), "replicaCount: 1", "replicaCount: 3"));
  BOOST_REQUIRE(pod.elsewhere.size() == 1U);
  BOOST_TEST(pod.elsewhere[0].sentence == "3 replicas need several machines: one machine runs 1");
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_together_is_told) {
  BOOST_TEST(problems_of_application("componentName: web", "componentName: wen")
                 .contains("no document of this file is the Component \"wen\""));
  BOOST_TEST(problems_of_application("{name: image, value", "{name: imag, value")
                 .contains("unknown parameter of the component \"imag\" (did you mean image?)"));
  BOOST_TEST(problems_of_application("[metadata.name]", "[\"spec.containers[7].name\"]")
                 .contains("\"spec.containers[7].name\" leads to no value of the workload"));
  BOOST_TEST(problems_of_application("value: 8080", "value: [1]")
                 .contains("must be a string or a whole number"));
  BOOST_TEST(problems_of_application("value: 8080", "value: 8_080")
                 .contains("write 8080, or \"8_080\" in quotes"));
  BOOST_TEST(problems_of_application("value: 8080", "value: 0")
                 .contains("/containerPort: must be a whole number"));
  BOOST_TEST(problems_of_application("    - componentName: web",
                                     "    - componentName: web\n    - componentName: b")
                 .contains("must have one component, not 2"));
  BOOST_TEST(problems(kConfiguration).contains("no document of this file is the Component"));
}

BOOST_AUTO_TEST_SUITE_END()
