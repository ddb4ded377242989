// The published resource type Radius.Compute/containers, beside the form of the design note.

#include "pods/documents/needs.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

constexpr std::string_view kPublished = R"({
  "name": "myApp", "type": "Radius.Compute/containers@2025-08-01-preview",
  "properties": {
    "environment": "env", "application": "app", "host": "h", "hosts": {"a": "10.0.0.1"}, "restartPolicy": "OnFailure",
    "containers": {
      "dbMigration": {"initContainer": true, "image": "busybox"},
      "orderProcessor": {
        "image": "example/web", "initContainer": false,
        "ports": {"httpPort": {"containerPort": 80}},
        "env": {"USER": {"valueFrom": {"secretKeyRef": {"secretName": "keys", "key": "user"}}}},
        "volumeMounts": [{"volumeName": "appData", "mountPath": "/data"},
                         {"volumeName": "cacheData", "mountPath": "/cache"},
                         {"volumeName": "appSecrets", "mountPath": "/secrets"}],
        "resources": {"requests": {"cpu": "0.1", "memoryInMib": 128},
                      "limits": {"cpu": "500m", "memoryInMib": 512}},
        "livenessProbe": {"httpGet": {"path": "/", "port": "httpPort", "scheme": "https"},
                          "terminationGracePeriodSeconds": 3},
        "readinessProbe": {"tcpSocket": {"port": 80}}
      }
    },
    "volumes": {"appData": {"persistentVolume": {"resourceId": "/pv/data", "accessMode": "ReadWriteMany"}},
                "cacheData": {"emptyDir": {"medium": "memory"}}, "appSecrets": {"secretName": "keys"}},
    "platformOptions": {"kubernetes": {}}
  }
})";

std::string problems_of_published(std::string_view from, std::string_view to) {
  return problems(with(kPublished, from, to));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(radius_published)

BOOST_AUTO_TEST_CASE(every_attribute_reaches_the_pod) {
  const Pod pod = good(kPublished);
  BOOST_TEST((pod.name == "myApp" && pod.restart == Restart::kOnFailure));
  BOOST_REQUIRE((pod.containers.size() == 1 && pod.init_containers.size() == 1));  // RX-1, RX-2
  BOOST_TEST(pod.init_containers[0].name == "dbMigration");
  const Container& app = pod.containers[0];
  BOOST_TEST((app.name == "orderProcessor" && app.ports[0].name == "httpPort"));
  const auto& key = std::get<SecretKey>(app.env[0].value);  // RX-6
  BOOST_TEST((key.secret == "keys" && key.key == "user"));
  BOOST_REQUIRE(app.mounts.size() == 3U);  // RX-8
  BOOST_TEST((app.mounts[1].volume == "cacheData" && app.mounts[1].path == "/cache"));
  BOOST_TEST((app.resources.requests.cpus == 0.1 && app.resources.limits.cpus == 0.5));  // RX-10
  BOOST_TEST((app.resources.limits.memory == 512U << 20));                               // RX-11
  const auto& http = std::get<HttpProbe>(app.liveness->question);                        // RX-13
  BOOST_TEST((http.tls && http.port == 80 && app.liveness->grace == std::chrono::seconds(3)));
  BOOST_TEST(!app.readiness->grace.has_value());
}

BOOST_AUTO_TEST_CASE(volumes_are_persistent_secret_or_empty) {  // RX-9
  const Pod pod = good(kPublished);
  BOOST_REQUIRE(pod.volumes.size() == 3U);
  const Volume& data = pod.volumes[0];
  BOOST_TEST((data.kind == Volume::Source::kOperator && data.source == "/pv/data"));
  BOOST_TEST((!data.exclusive && !data.read_only && !data.shares_with_all));
  BOOST_TEST((pod.volumes[1].kind == Volume::Source::kEmpty && pod.volumes[1].in_memory));
  BOOST_TEST((pod.volumes[2].kind == Volume::Source::kSecret && pod.volumes[2].read_only));
  const auto volume = [](std::string_view mode) {
    return good(with(kPublished, ", \"accessMode\": \"ReadWriteMany\"", mode)).volumes[0];
  };
  BOOST_TEST(volume("").exclusive);
  BOOST_TEST(volume(R"(, "accessMode": "ReadWriteOnce")").exclusive);
  const Volume read = volume(R"(, "accessMode": "ReadOnlyMany")");
  BOOST_TEST((read.read_only && read.shares_with_all && !read.exclusive));
  BOOST_TEST(problems_of_published("ReadWriteMany", "RWX")
                 .contains("unknown access mode \"RWX\" (known: "));
  BOOST_TEST(
      problems_of_published("\"memory\"}", "\"Memory\"}").contains("(did you mean memory?)"));
  BOOST_TEST(
      problems_of_published("{\"secretName\": \"keys\"}}",
                            "{\"secretName\": \"keys\", \"secretId\": \"k\"}}")
          .contains("must have exactly one of persistentVolumeId, persistentVolume, secretId, "
                    "secretName and emptyDir, not 2"));
}

BOOST_AUTO_TEST_CASE(what_radius_alone_uses_is_warned_of) {
  for (const char* name : {"host", "hosts", "platformOptions"})
    BOOST_CHECK_MESSAGE(
        warnings(kPublished).contains(fmt::format("/properties/{}: has no effect", name)), name);
  BOOST_TEST(warnings(with(kPublished, "{\"tcpSocket\": {\"port\": 80}}",
                           "{\"tcpSocket\": {\"port\": 80}, \"terminationGracePeriodSeconds\": 3}"))
                 .contains("has no effect: a container that is not ready is not stopped"));
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_told) {
  BOOST_TEST(
      problems_of_published("\"initContainer\": false", "\"initContainer\": true")
          .contains("/containers: must have at least one container that is no init container"));
  BOOST_TEST(problems_of_published(
                 "\"image\": \"busybox\"",
                 "\"image\": \"busybox\", \"livenessProbe\": {\"tcpSocket\": {\"port\": 1}}")
                 .contains("an init container has no probes"));
  BOOST_TEST(problems_of_published("\"secretName\": \"keys\", \"key\"", "\"key\"")
                 .contains("must have exactly one of secretId and secretName"));
  BOOST_TEST(problems_of_published("\"/cache\"", "\"/data\"")
                 .contains("is the path of another mount too"));
  BOOST_TEST(
      problems_of_published("OnFailure", "Sometimes")
          .contains("unknown rule of restart \"Sometimes\" (known: Always, OnFailure, Never)"));
  BOOST_TEST(problems_of_published("\"0.1\"", "\"much\"")
                 .contains("/cpu: must be a number of CPUs above 0"));
  BOOST_TEST(problems_of_published("myApp", "my_app")
                 .contains("/name: must be letters, digits and \"-\""));
  BOOST_TEST(problems_of_published("{\"containerPort\": 80}",
                                   "{\"containerPort\": 80, \"scheme\": \"http\"}")
                 .contains("/scheme: unknown name"));
  BOOST_TEST(problems_of_published("\"port\": \"httpPort\"", "\"port\": \"other\"")
                 .contains("the port \"other\" is none of the container's ports"));
}

BOOST_AUTO_TEST_CASE(scaling_has_a_list_of_metrics) {  // RX-14
  const std::string_view scaling =
      R"("platformOptions": {}, "autoScaling": {"maxReplicas": 3, "metrics": [)"
      R"({"kind": "cpu", "target": {"averageUtilization": 50}}]})";
  const std::string_view options = "\"platformOptions\": {\"kubernetes\": {}}";
  const Pod pod = good(with(kPublished, options, scaling));
  BOOST_REQUIRE(pod.elsewhere.size() == 1U);
  BOOST_TEST(pod.elsewhere[0].sentence.starts_with("automatic scaling needs several machines"));
  BOOST_TEST(problems(with(kPublished, options, "\"autoScaling\": {}"))
                 .contains("must have exactly one of metric and metrics"));
  BOOST_TEST(problems_of_published(options, R"("extensions": {"daprSidecar": {"appId": "a"}})")
                 .contains("/extensions/daprSidecar: is not supported"));
}

BOOST_AUTO_TEST_SUITE_END()
