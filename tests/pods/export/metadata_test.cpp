// Labels and annotations of a document, in what is exported of it.

#include "tests/pods/documents/full.hpp"
#include "tests/pods/export/export_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

using Texts = std::map<std::string, std::string>;

constexpr std::string_view kDeployment = R"yaml(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {tier: db, app: dep}, annotations: {rev: "3", app: the-dep}}
spec:
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}, annotations: {app: the-x, scrape: "true"}}
    spec: {containers: [{name: a, image: a}]}
)yaml";

constexpr std::string_view kKnativeService = R"yaml(
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: web, labels: {team: one}, annotations: {team: all of one}}
spec:
  template:
    metadata: {labels: {team: two, tier: front}, annotations: {team: all of two}}
    spec: {containers: [{image: a}]}
)yaml";

Texts texts_of(const Metadata& metadata) {
  Texts all;
  for (const auto& [name, value] : metadata.labels) all["label " + name] = value;
  for (const auto& [name, value] : metadata.annotations) all["annotation " + name] = value;
  return all;
}

/// What an exported document has as a workload of Kubernetes.
Pod read_again(std::string_view text, const ExportOptions& options = {}) {
  return good(exported(text, options));
}

std::string shown(const Texts& texts) {
  std::string text;
  for (const auto& [name, value] : texts) text += name + "=" + value + "\n";
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exported_labels_and_annotations)

BOOST_AUTO_TEST_CASE(a_label_and_an_annotation_may_have_the_same_key) {
  const Pod pod = read_again(R"yaml(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {team: blue}}
  template:
    metadata: {labels: {team: blue}, annotations: {team: the blue team}}
    spec: {containers: [{name: a, image: a}]}
)yaml");
  BOOST_TEST(shown(texts_of(pod.metadata)) == "annotation team=the blue team\nlabel team=blue\n");
  BOOST_TEST(shown(texts_of(*pod.controller_metadata)) == "");
  const Pod alone = read_again(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {a: one}, annotations: {a: two}}\n"
      "spec: {containers: [{name: a, image: a}]}\n");
  BOOST_TEST(shown(texts_of(alone.metadata)) == "annotation a=two\nlabel a=one\n");
}

BOOST_AUTO_TEST_CASE(a_deployment_and_its_template_keep_their_own) {
  const Pod pod = read_again(kDeployment);
  BOOST_TEST(shown(texts_of(*pod.controller_metadata)) ==
             "annotation app=the-dep\nannotation rev=3\nlabel app=dep\nlabel tier=db\n");
  BOOST_TEST(shown(texts_of(pod.metadata)) ==
             "annotation app=the-x\nannotation scrape=true\nlabel app=x\n");
  const Pod set = read_again(kDeployment, {.kind = ExportedKind::kStatefulSet});
  BOOST_TEST(shown(texts_of(set.metadata)) == shown(texts_of(pod.metadata)));
  BOOST_TEST(shown(texts_of(*set.controller_metadata)) ==
             shown(texts_of(*pod.controller_metadata)));
}

BOOST_AUTO_TEST_CASE(a_pod_made_of_a_deployment_has_those_of_the_template_and_tells_the_others) {
  const std::string error = exported(kDeployment, {.kind = ExportedKind::kPod});
  BOOST_TEST(error.contains(
      "f:4:47: /metadata/labels/app: the label \"app\" of a Pod is that of the template, \"x\""));
  BOOST_TEST(error.contains("the annotation \"app\" of a Pod is that of the template, \"the-x\""));
  const Pod pod = read_again(kDeployment, {.kind = ExportedKind::kPod, .lossy = true});
  BOOST_TEST(shown(texts_of(pod.metadata)) ==
             "annotation app=the-x\nannotation rev=3\nannotation scrape=true\nlabel app=x\n"
             "label tier=db\n");
}

BOOST_AUTO_TEST_CASE(a_deployment_made_of_knative_keeps_those_of_the_service_and_of_the_revision) {
  const Pod pod = read_again(kKnativeService, {.kind = ExportedKind::kDeployment});
  BOOST_TEST(shown(texts_of(*pod.controller_metadata)) ==
             "annotation team=all of one\nlabel app.kubernetes.io/instance=web\nlabel team=one\n");
  BOOST_TEST(shown(texts_of(pod.metadata)) ==
             "annotation team=all of two\nlabel app.kubernetes.io/instance=web\nlabel team=two\n"
             "label tier=front\n");
}

BOOST_AUTO_TEST_CASE(one_set_of_the_document_is_that_of_the_pods_and_of_what_keeps_them) {
  const Pod oam = read_again(R"yaml(
apiVersion: core.oam.dev/v1alpha2
kind: ContainerizedWorkload
metadata: {name: web, labels: {team: blue}, annotations: {team: all}}
spec: {containers: [{name: a, image: a}]}
)yaml");
  const Pod radius = read_again(R"yaml(
type: Applications.Core/containers
name: web
properties:
  application: app
  container: {image: a}
  extensions: [{kind: kubernetesMetadata, labels: {team: blue}, annotations: {team: all}}]
)yaml");
  for (const Pod* pod : {&oam, &radius})
    for (const Metadata* metadata : {&pod->metadata, &*pod->controller_metadata})
      BOOST_TEST(shown(texts_of(*metadata)) ==
                 "annotation team=all\nlabel app.kubernetes.io/instance=web\nlabel team=blue\n");
}

BOOST_AUTO_TEST_CASE(
    services_of_swarm_have_those_of_the_controller_and_containers_those_of_the_pod) {
  const std::string two = "Swarm has labels only";
  const std::string error = exported(kDeployment, {}, export_to_swarm);
  BOOST_TEST(error.contains(
      "/metadata/labels/app: \"app\" is a label, \"dep\", and an annotation, \"the-dep\": " + two));
  BOOST_TEST(error.contains("\"app\" is a label, \"x\", and an annotation, \"the-x\": " + two));
  const std::string text = exported(
      with(with(kDeployment, ", app: the-dep", ""), "app: the-x, ", ""), {}, export_to_swarm);
  BOOST_TEST(text.contains("    labels:\n      app: x\n      scrape: \"true\"\n"));
  BOOST_TEST(
      text.contains("      labels:\n        app: dep\n        rev: \"3\"\n        tier: db\n"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(
    a_bundle_has_the_annotations_first_and_those_of_the_pod_before_its_controller) {
  const Texts annotations = bundle_annotations(good(kDeployment));
  BOOST_TEST(shown(annotations) == "app=the-x\nrev=3\nscrape=true\ntier=db\n");
}
