// Container resource of Radius: docs/requirements.md.

#include "pods/documents/needs.hpp"
#include "tests/pods/documents/full.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

std::string problems_of_resource(std::string_view from, std::string_view to) {
  return problems(with(full_radius(), from, to));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(radius)

BOOST_AUTO_TEST_CASE(every_attribute_reaches_the_pod) {
  const Pod pod = good(full_radius());
  BOOST_TEST((pod.kind == Kind::kRadius && pod.restart == Restart::kAlways && pod.name == "shop"));
  BOOST_TEST(pod.metadata.annotations.at("owner") == "me");
  BOOST_REQUIRE(pod.containers.size() == 2U);  // RX-1
  const Container& web = pod.containers[0];
  BOOST_TEST((web.name == "web" && web.image == "example/web:1"));  // RX-3
  BOOST_TEST((web.command == std::vector<std::string>{"/bin/httpd"} &&
              web.args == std::vector<std::string>{"-f"}));  // RX-4
  BOOST_TEST(web.working_directory == "/srv");               // RX-17
  BOOST_REQUIRE(web.env.size() == 2U);
  BOOST_TEST(std::get<std::string>(web.env[0].value) == "x");  // RX-5
  const auto& key = std::get<SecretKey>(web.env[1].value);     // RX-6
  BOOST_TEST((web.env[1].name == "B" && key.secret == "db" && key.key == "password"));
  BOOST_TEST((web.ports.size() == 1 && web.ports[0].name == "http" &&
              web.ports[0].number == 8080));  // RX-7
  BOOST_TEST((web.mounts.size() == 1 && web.mounts[0].volume == "data" &&
              web.mounts[0].path == "/data"));  // RX-8
  BOOST_TEST(
      (web.resources.requests.cpus == 0.1 && web.resources.requests.memory == 64U << 20));  // RX-10
  BOOST_TEST(
      (web.resources.limits.cpus == 1.0 && web.resources.limits.memory == 128U << 20));  // RX-11
  const auto& http = std::get<HttpProbe>(web.liveness->question);                        // RX-13
  BOOST_TEST((http.port == 8080 && http.port_name.empty() && http.tls));
  BOOST_TEST(std::get<TcpProbe>(web.readiness->question).port == 8080);
}

BOOST_AUTO_TEST_CASE(init_containers_keep_the_order_of_the_document) {  // RX-2
  const Pod pod = good(full_radius());
  BOOST_REQUIRE(pod.init_containers.size() == 2U);
  BOOST_TEST((pod.init_containers[0].name == "second" && pod.init_containers[1].name == "first"));
  BOOST_TEST(
      problems_of_resource("{\"image\": \"a\"}",
                           "{\"image\": \"a\", \"livenessProbe\": {\"tcpSocket\": {\"port\": 1}}}")
          .contains("/initContainers/second/livenessProbe: an init container has no probes"));
  BOOST_TEST(problems_of_resource("\"first\"", "\"web\"")
                 .contains("names must be unique among all containers"));
  BOOST_TEST(problems_of_resource("\"first\"", "\"first_\"")
                 .contains("the name must be 1 to 63 letters, digits"));
}

BOOST_AUTO_TEST_CASE(volumes_have_one_source) {  // RX-9
  const Pod pod = good(full_radius());
  BOOST_REQUIRE(pod.volumes.size() == 3U);
  BOOST_TEST((pod.volumes[0].kind == Volume::Source::kOperator &&
              pod.volumes[0].source == "/volumes/data"));
  BOOST_TEST((pod.volumes[1].kind == Volume::Source::kSecret &&
              pod.volumes[1].source == "/secrets/db" && pod.volumes[1].read_only));
  BOOST_TEST((pod.volumes[2].kind == Volume::Source::kEmpty && !pod.volumes[2].read_only &&
              pod.volumes[2].mode == 0777));
  BOOST_TEST(problems_of_resource("{\"emptyDir\": {}}", "{\"emptyDir\": null}") == "");
  BOOST_TEST(problems_of_resource("{\"emptyDir\": {}}", "{}")
                 .contains("/volumes/tmp: must have exactly one of"));
  BOOST_TEST(problems_of_resource("{\"emptyDir\": {}}", "{\"emptyDir\": null, \"secretId\": \"s\"}")
                 .contains("not 2"));
  BOOST_TEST(problems_of_resource("\"volumeName\": \"data\"", "\"volumeName\": \"date\"")
                 .contains("/volumeName: \"date\" is none of the volumes"));
  BOOST_TEST(
      problems_of_resource("\"mountPath\": \"/data\", ", "").contains("/mountPath: is missing"));
}

BOOST_AUTO_TEST_CASE(what_the_second_version_removed_is_told) {  // RX-4, RX-6, RX-18
  BOOST_TEST(problems_of_resource("[\"/bin/httpd\"]", "\"/bin/httpd\"")
                 .contains("/command: must be a list of strings, one for each argument"));
  BOOST_TEST(problems_of_resource("\"secretKeyRef\": {\"secretId\"", "\"secretRef\": {\"secretId\"")
                 .contains("it is called secretKeyRef now"));
  BOOST_TEST(problems_of_resource("\"secretId\": \"db\"", "\"source\": \"db\"")
                 .contains("it is called secretId now"));
  BOOST_TEST(
      !problems_of_resource("\"image\": \"side\"", "\"zzzzzzzz\": 1").contains("imagePullPolicy"));
  BOOST_TEST(problems_of_resource("\"image\": \"side\"",
                                  "\"image\": \"side\", \"imagePullPolicy\": \"Always\"")
                 .contains("was removed from the resource type"));
  BOOST_TEST(problems_of_resource("\"disableDefaultEnvVars\": false", "\"iam\": {}")
                 .contains("/iam: was removed"));
  BOOST_TEST(problems_of_resource("{\"manualScaling\": {\"replicas\": 1}}",
                                  "[{\"kind\": \"kubernetesMetadata\"}]")
                 .contains("was removed"));
  for (const char* name :
       {"securityContext", "restartPolicy", "lifecycle", "startupProbe", "tty"})  // RX-13, RX-19
    BOOST_CHECK_MESSAGE(
        problems_of_resource("\"image\": \"side\"",
                             std::string("\"image\": \"side\", \"") + name + "\": {}")
            .contains(std::string("/properties/containers/side/") + name + ": unknown name"),
        name);
}

BOOST_AUTO_TEST_CASE(variables_have_one_value) {  // RX-5
  BOOST_TEST(problems_of_resource("{\"value\": \"x\"}", "{}")
                 .contains("/env/A: must have exactly one of value and valueFrom"));
  BOOST_TEST(problems_of_resource(
                 "{\"value\": \"x\"}",
                 "{\"value\": \"x\", \"valueFrom\": {\"secretKeyRef\": {\"secretId\": \"a\", "
                 "\"key\": \"b\"}}}")
                 .contains("must have exactly one"));
  BOOST_TEST(problems_of_resource("{\"value\": \"x\"}", "\"x\"")
                 .contains("/env/A: must be an object with value or valueFrom, not \"x\""));
  BOOST_TEST(problems_of_resource("\"A\"", "\"A=B\"").contains("must not contain \"=\""));
}

BOOST_AUTO_TEST_CASE(memory_has_two_spellings) {  // RX-10, RX-11
  BOOST_TEST(problems_of_resource("memoryInMib", "memoryInMiB") == "");
  BOOST_TEST(problems_of_resource("\"memoryInMib\": 64", "\"memoryInMib\": 64, \"memoryInMiB\": 64")
                 .contains("is the same as memoryInMiB"));
  BOOST_TEST(problems_of_resource("\"memoryInMib\": 64", "\"memoryInMib\": 256")
                 .contains("/limits: must not be below the requests"));
  BOOST_TEST(problems_of_resource("\"cpu\": 0.1", "\"cpu\": 2")
                 .contains("/limits: must not be below the requests"));
  BOOST_TEST(problems_of_resource("\"cpu\": 0.1", "\"cpu\": 0")
                 .contains("must be a number of CPUs above 0"));
}

BOOST_AUTO_TEST_CASE(scaling_is_checked_and_left_to_several_machines) {  // RX-14, RX-15
  Pod pod = good(full_radius());
  BOOST_REQUIRE(pod.elsewhere.size() == 1U);
  BOOST_TEST(pod.elsewhere[0].sentence.starts_with("automatic scaling needs several machines"));
  pod = good(with(full_radius(), "\"application\": \"app\", \"replicas\": 1", "\"replicas\": 3"));
  BOOST_TEST(pod.elsewhere[0].sentence == "3 replicas need several machines: one machine runs 1");
  pod = good(with(full_radius(), "{\"manualScaling\": {\"replicas\": 1}}",
                  "[{\"kind\": \"manualScaling\", \"replicas\": 2}]"));
  BOOST_TEST(pod.elsewhere.size() == 2U);
  BOOST_TEST(problems_of_resource("\"custom\"", "\"disk\"")
                 .contains("unknown kind of metric \"disk\" (known: cpu, memory, custom)"));
  BOOST_TEST(problems_of_resource("{\"averageValue\": 5}", "{\"averageValue\": 5, \"value\": 1}")
                 .contains("must have exactly one of averageUtilization"));
  BOOST_TEST(problems_of_resource("{\"averageValue\": 5}", "{\"averageUtilization\": 5}")
                 .contains("is only for the kinds cpu and memory"));
  BOOST_TEST(problems_of_resource("\"customMetric\": \"m\", ", "") == "");  // it is optional
  BOOST_TEST(problems_of_resource("\"replicas\": 1,", "\"replicas\": 0,")
                 .contains("must be a whole number from 1"));
}

BOOST_AUTO_TEST_CASE(the_operator_s_part_is_told) {  // RX-6, RX-9, RX-16
  const Workload workload = read_workload("f", full_radius());
  std::string needs;
  for (const Need& need : needs_of(workload.pod)) needs += need.sentence + '\n';
  BOOST_TEST(
      needs ==
      "the secret \"db\": a document of the kind Secret in the file, or --secret db=DIR, a file "
      "for each key\n"
      "a directory for the volume \"/volumes/data\": --volume /volumes/data=HOSTPATH\n"
      "the secret \"/secrets/db\": a document of the kind Secret in the file, or --secret "
      "/secrets/db=DIR, a file for each key\n"
      "the properties of the connection \"cache\" (/redis/cache) as variables: --param "
      "cache.PROPERTY=VALUE for each\n");
  const Pod disabled = good(
      with(full_radius(), "\"disableDefaultEnvVars\": false", "\"disableDefaultEnvVars\": true"));
  BOOST_TEST(!disabled.connections.at(0).sets_variables);
}

BOOST_AUTO_TEST_CASE(the_resource_is_one_of_containers) {
  BOOST_TEST(problems_of_resource("Radius.Compute/containers", "Radius.Data/redis")
                 .contains("/type: must be a type of containers"));
  BOOST_TEST(problems_of_resource("\"autoScaling\"", "\"autoscaling\"")
                 .contains("unknown name (did you mean autoScaling?)"));
  BOOST_TEST(problems_of_resource("\"containers\"", "\"container\"")
                 .contains("/properties/container: was removed"));
  BOOST_TEST(problems(R"({"name": "a", "properties": {"containers": {}}})")
                 .contains("must have at least one container"));
}

BOOST_AUTO_TEST_CASE(what_only_radius_uses_is_warned_of) {
  for (const char* name :
       {"/id", "/location", "/apiVersion", "/properties/environment", "/properties/application"})
    BOOST_CHECK_MESSAGE(
        warnings(full_radius())
            .contains(std::string(name) + ": has no effect: no Radius stands behind this command"),
        name);
  BOOST_TEST(problems_of_resource("\"data\": {\"persistent", "\"A B\": {\"persistent")
                 .contains("/volumes/A B: the name must be 1 to 63"));
  BOOST_TEST(problems_of_resource("{\"manualScaling\": {\"replicas\": 1}}",
                                  "{\"manualScaling\": {\"replicas\": 1, \"kind\": \"x\"}}")
                 .contains("must be manualScaling"));
}

BOOST_AUTO_TEST_SUITE_END()
