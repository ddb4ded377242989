// One mistake in a document is one problem, in each of the five formats.

#include "tests/pods/documents/full.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

/// The one problem of `document` after a replacement, without its line and column.
std::string fault(std::string_view document, std::string_view from, std::string_view to) {
  const Workload workload = read_workload("f", with(document, from, to));
  if (workload.problems.size() != 1) return lines(workload.problems);
  const std::string& sentence = workload.problems.front();
  return sentence.substr(sentence.find(": ") + 2);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(faults)

BOOST_AUTO_TEST_CASE(a_misspelled_name_is_not_missing_too) {
  BOOST_TEST(fault(full_oam(), "\"image\": \"side\"", "\"imge\": \"side\"") ==
             "/spec/containers/1/imge: unknown name (did you mean image?)");
  BOOST_TEST(fault(full_appc(), "\"acVersion\"", "\"acversion\"") ==
             "/acversion: unknown name (did you mean acVersion?)");
  BOOST_TEST(fault(full_radius(), "\"image\": \"side\"", "\"imge\": \"side\"") ==
             "/properties/containers/side/imge: unknown name (did you mean image?)");
  BOOST_TEST(fault(full_knative(), "\"image\": \"example/hello\"", "\"imge\": \"example/hello\"") ==
             "/spec/template/spec/containers/0/imge: unknown name (did you mean image?)");
  BOOST_TEST(fault(full_kubernetes(), "\"image\": \"side\"", "\"imge\": \"side\"") ==
             "/spec/template/spec/containers/1/imge: unknown name (did you mean image?)");
  BOOST_TEST(fault(full_kubernetes(), "\"name\": \"shop\", \"namespace\"",
                   "\"nme\": \"shop\", \"namespace\"") ==
             "/metadata/nme: unknown name (did you mean name?)");
  BOOST_TEST(fault(full_kubernetes(), "\"tier\": \"front\"}", "\"tier\": 7}")
                 .starts_with("/spec/template/metadata/labels/tier: must be a string"));
}

BOOST_AUTO_TEST_CASE(a_faulty_volume_is_a_volume) {
  BOOST_TEST(fault(full_appc(), "\"kind\": \"host\"", "\"kind\": \"hst\"") ==
             "/volumes/0/kind: unknown kind of volume \"hst\" (did you mean host?)");
  BOOST_TEST(fault(full_appc(), "\"name\": \"data\", \"kind\"", "\"kind\"") ==
             "/volumes/0/name: is missing, it is required");
  BOOST_TEST(fault(full_appc(), "\"kind\": \"empty\", \"mode\": \"1777\"", "\"kind\": \"emty\"")
                 .starts_with("/apps/0/mounts/1/appVolume/kind: unknown kind of volume"));
  BOOST_TEST(fault(full_appc(), "\"volume\": \"data\"", "\"volume\": \"Data\"")
                 .starts_with("/apps/0/mounts/0/volume: must be an AC Name"));
  BOOST_TEST(fault(full_radius(), "\"data\": {\"persistentVolumeId\": \"/volumes/data\"}",
                   "\"data\": null")
                 .starts_with("/properties/volumes/data: must be an object"));
  BOOST_TEST(fault(full_radius(),
                   "\"volumes\": {\"data\": {\"persistentVolumeId\": \"/volumes/data\"}, "
                   "\"keys\": {\"secretId\": \"/secrets/db\"},\n"
                   "                \"tmp\": {\"emptyDir\": {}}}",
                   "\"volumes\": 7") == "/properties/volumes: must be an object, not 7");
  BOOST_TEST(fault(full_knative(), "\"secret\": {\"secretName\"", "\"secrt\": {\"secretName\"")
                 .starts_with("/spec/template/spec/volumes/0/secrt: unknown name"));
  BOOST_TEST(fault(full_kubernetes(), "\"hostPath\": {", "\"hostPth\": {")
                 .starts_with("/spec/template/spec/volumes/4/hostPth: unknown name"));
  BOOST_TEST(fault(full_oam(), "\"mountPath\": \"/data\", ", "")
                 .starts_with("/spec/containers/0/resources/volumes/0/mountPath: is missing"));
}

BOOST_AUTO_TEST_CASE(a_faulty_port_is_a_port) {
  BOOST_TEST(fault(full_radius(), "{\"containerPort\": 8080, \"protocol\"", "{\"protocol\"") ==
             "/properties/containers/web/ports/http/containerPort: is missing, it is required");
  BOOST_TEST(
      fault(full_knative(), "{\"name\": \"http1\", \"containerPort\": 9000",
            "{\"name\": \"htp1\", \"containerPort\": 9000")
          .starts_with("/spec/template/spec/containers/0/ports/0/name: unknown name of a port"));
}

BOOST_AUTO_TEST_CASE(a_faulty_port_of_kubernetes_is_a_port) {
  BOOST_TEST(
      fault(full_kubernetes(), "\"containerPort\": 9000, ", "")
          .starts_with("/spec/template/spec/containers/0/ports/0/containerPort: is missing"));
}

BOOST_AUTO_TEST_CASE(a_removed_name_is_not_missing_too) {  // RX-6, RX-18
  BOOST_TEST(fault(full_radius(), "\"secretKeyRef\": {", "\"secretRef\": {")
                 .starts_with("/properties/containers/web/env/B/valueFrom/secretRef: was removed"));
  BOOST_TEST(
      fault(full_radius(), "\"secretId\": \"db\"", "\"source\": \"db\"")
          .ends_with("/source: was removed from the resource type: it is called secretId now"));
  BOOST_TEST(
      fault(R"({"name": "a", "type": "Radius.Compute/containers", "properties": {"replicas": 1}})",
            "\"replicas\": 1", "\"container\": {\"image\": \"b\"}")
          .starts_with("/properties/container: was removed"));
}

BOOST_AUTO_TEST_CASE(a_removed_name_is_not_offered) {
  BOOST_TEST(
      fault(full_radius(), "\"image\": \"side\"", "\"image\": \"side\", \"zz\": 1") ==
      "/properties/containers/side/zz: unknown name (known: image, initContainer, command, "
      "args, env, ports, workingDir, volumeMounts, resources, livenessProbe, readinessProbe)");
  BOOST_TEST(
      fault(full_radius(), "\"image\": \"side\"", "\"image\": \"side\", \"imagePullPolicie\": 1")
          .contains("(known: image, "));
}

BOOST_AUTO_TEST_SUITE_END()
