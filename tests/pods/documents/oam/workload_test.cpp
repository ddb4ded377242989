// OAM ContainerizedWorkload: docs/requirements.md.

#include <algorithm>

#include "pods/documents/needs.hpp"
#include "tests/pods/documents/full.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

/// The problems of the full document after a replacement of text.
std::string problems_of_workload(std::string_view from, std::string_view to) {
  return problems(with(full_oam(), from, to));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(oam)

BOOST_AUTO_TEST_CASE(every_attribute_reaches_the_pod) {
  const Pod pod = good(full_oam());
  BOOST_TEST((pod.containers.at(0).pull_secret && pod.containers[0].pull_secret->name == "key"));
  BOOST_TEST((pod.kind == Kind::kOam && pod.restart == Restart::kAlways && !pod.shares_pids));
  BOOST_TEST(pod.name == "shop");  // OAM-3
  BOOST_TEST((pod.metadata.labels == std::map<std::string, std::string>{{"tier", "front"}} &&
              pod.metadata.annotations == std::map<std::string, std::string>{{"owner", "me"}}));
  BOOST_REQUIRE(pod.containers.size() == 2U);  // OAM-7
  const Container& web = pod.containers[0];
  BOOST_TEST(web.name == "Web.1_a-b");                                  // OAM-10
  BOOST_TEST(web.image == "example/foobar:1");                          // OAM-11
  BOOST_TEST((web.command == std::vector<std::string>{"/bin/httpd"}));  // OAM-13
  BOOST_TEST((web.args == std::vector<std::string>{"-f"}));             // OAM-14
  BOOST_TEST(!pod.containers[1].command.has_value());
  BOOST_TEST(!pod.containers[1].args.has_value());
  BOOST_REQUIRE(web.env.size() == 2U);  // OAM-15
  BOOST_TEST(web.env[0].name == "A_b-1");
  BOOST_TEST(std::get<std::string>(web.env[0].value) == "x");
  BOOST_TEST(std::get<std::string>(web.env[1].value) == "");
  BOOST_REQUIRE(web.config_files.size() == 2U);  // OAM-16
  BOOST_TEST((web.config_files[0].value == "v" && web.config_files[0].parameter == "p"));
  BOOST_TEST((web.config_files[1].path == "/etc/b" && web.config_files[1].value == ""));
  BOOST_REQUIRE(web.ports.size() == 2U);  // OAM-17
  BOOST_TEST((web.ports[0].name == "http" && web.ports[0].number == 8080 &&
              web.ports[0].protocol == Protocol::kTcp));
  BOOST_TEST((web.ports[1].protocol == Protocol::kUdp));
}

BOOST_AUTO_TEST_CASE(
    probes_have_their_numbers_and_the_defaults_of_the_specification) {  // OAM-18 … OAM-22
  const Pod pod = good(full_oam());
  const Probe& live = *pod.containers[0].liveness;
  BOOST_TEST(
      (std::get<ExecProbe>(live.question).command == std::vector<std::string>{"/bin/true", "x"}));
  BOOST_TEST(
      (live.initial_delay.count() == 1 && live.period.count() == 2 && live.timeout.count() == 3));
  BOOST_TEST((live.success_threshold == 4 && live.failure_threshold == 5));
  const Probe& ready = *pod.containers[0].readiness;
  BOOST_TEST((ready.initial_delay.count() == 0 && ready.period.count() == 10 &&
              ready.timeout.count() == 1));
  BOOST_TEST((ready.success_threshold == 1 && ready.failure_threshold == 3));
  const auto& http = std::get<HttpProbe>(ready.question);
  BOOST_TEST((http.path == "/ready" && http.port == 8080 && http.headers.size() == 1 && !http.tls));
  BOOST_TEST((http.headers[0].name == "X-A" && http.headers[0].value == "b"));
  BOOST_TEST(std::get<TcpProbe>(pod.containers[1].liveness->question).port == 1);
}

BOOST_AUTO_TEST_CASE(resources_are_cpus_and_bytes) {  // OAM-30, OAM-31, OAM-36, OAM-37
  const Pod pod = good(full_oam());
  const Resources& resources = pod.containers[0].resources;
  BOOST_TEST(resources.requests.cpus.value() == 0.5);
  BOOST_TEST(resources.requests.memory.value() == 64U << 20);
  BOOST_TEST(!resources.limits.memory.has_value());
  BOOST_REQUIRE(resources.extended.size() == 1U);
  BOOST_TEST((resources.extended[0].name == "ext.example.com/v1.MotionSensor" &&
              resources.extended[0].required == "1"));
  BOOST_REQUIRE(pod.volumes.size() == 1U);
  const Volume& volume = pod.volumes[0];
  BOOST_TEST((volume.kind == Volume::Source::kEmpty && !volume.exclusive &&
              volume.least_bytes == 2ULL << 30));
  const Mount& mount = pod.containers[0].mounts.at(0);
  BOOST_TEST((mount.volume == "data" && mount.path == "/data" && mount.read_only));
}

BOOST_AUTO_TEST_CASE(sizes_have_the_units_of_the_specification) {  // OAM-31, OAM-38
  const auto bytes = [](const std::string& size) {
    return good(with(full_oam(), "\"64M\"", size)).containers[0].resources.requests.memory.value();
  };
  BOOST_TEST(bytes("1024") == 1024U);
  BOOST_TEST(bytes("\"1024\"") == 1024U);
  BOOST_TEST(bytes("\"88K\"") == 88U << 10);
  BOOST_TEST(bytes("\"15k\"") == 15U << 10);
  BOOST_TEST(bytes("\"5MB\"") == 5U << 20);
  BOOST_TEST(bytes("\"5mb\"") == 5U << 20);
  BOOST_TEST(bytes("\"7G\"") == 7ULL << 30);
  BOOST_TEST(bytes("\"100T\"") == 100ULL << 40);
  BOOST_TEST(bytes("\"8P\"") == 8ULL << 50);
  BOOST_TEST(bytes("\"7B\"") == 7U);
  for (const char* bad : {"\"\"", "\"M\"", "0", "\"0M\"", "-1", "1.5", "\"1.5M\"", "\"1 M\"",
                          "\"1Mi\"", "\"1E\"", "\"+1\"", "\"1MM\"", "\"1BB\"", "true", "[]"})
    BOOST_CHECK_MESSAGE(problems_of_workload("\"64M\"", bad)
                            .contains("/memory/required: must be a whole number above 0"),
                        bad);
  BOOST_TEST(problems_of_workload("\"64M\"", "\"9999P\"")
                 .contains("more than the 9223372036854775807 bytes that Linux can count"));
}

BOOST_AUTO_TEST_CASE(a_count_of_cpus_is_above_zero) {  // OAM-30
  for (const char* bad : {"0", "-1", "0.0", "\"1\"", "true", "{}"})
    BOOST_CHECK_MESSAGE(
        problems_of_workload("\"required\": 0.5", std::string("\"required\": ") + bad)
            .contains("/cpu/required: must be a number of CPUs above 0"),
        bad);
  BOOST_TEST(problems("apiVersion: core.oam.dev/v1alpha2\nkind: ContainerizedWorkload\nmetadata: "
                      "{name: a}\nspec:\n"
                      "  containers: [{name: a, image: a, resources: {cpu: {required: .nan}, "
                      "memory: {required: 1}}}]")
                 .contains("not .nan"));
  BOOST_TEST(problems_of_workload("\"gpu\": {\"required\": 0}", "\"gpu\": {\"required\": -1}")
                 .contains("must be a number from 0 on"));
}

BOOST_AUTO_TEST_CASE(version_and_kind_are_checked) {  // OAM-1, OAM-2
  BOOST_TEST(problems_of_workload("core.oam.dev/v1alpha2", "core.oam.dev/v1beta1") ==
             "f:2:17: /apiVersion: must be core.oam.dev/v1alpha2, not \"core.oam.dev/v1beta1\"\n");
  BOOST_TEST(problems_of_workload("ContainerizedWorkload", "Containerized")
                 .contains("/kind: must be ContainerizedWorkload"));
}

BOOST_AUTO_TEST_CASE(system_and_architecture_are_this_host_s) {  // OAM-5, OAM-6
  BOOST_TEST(problems_of_workload("\"linux\"", "\"windows\"")
                 .contains("/spec/osType: must be linux, not \"windows\""));
  BOOST_TEST(
      problems_of_workload("\"arch\": \"", "\"arch\": \"vax").contains("/spec/arch: must be "));
}

BOOST_AUTO_TEST_CASE(names_are_valid_and_unique) {  // OAM-10, OAM-15, OAM-17
  for (const std::string bad : {"", "-a", "a-", "a b", "a/b", "\xC3\xA4", "a."})
    BOOST_CHECK_MESSAGE(problems_of_workload("Web.1_a-b", bad)
                            .contains("/containers/0/name: must be 1 to 63 letters"),
                        bad);
  BOOST_TEST(problems_of_workload("Web.1_a-b", std::string(63, 'x')) == "");
  BOOST_TEST(
      problems_of_workload("Web.1_a-b", std::string(64, 'x')).contains("must be 1 to 63 letters"));
  BOOST_TEST(problems_of_workload("\"name\": \"side\"", "\"name\": \"Web.1_a-b\"")
                 .contains("/containers/1/name: \"Web.1_a-b\" is given twice, first by item 0"));
  BOOST_TEST(problems_of_workload("EMPTY", "A_b-1") == "");
  BOOST_TEST(problems_of_workload("EMPTY", "\xC3\xA4_9") == "");
  for (const char* bad : {"", "a b", "a.b", "a=b"})
    BOOST_CHECK_MESSAGE(problems_of_workload("EMPTY", bad).contains("/env/1/name: must"), bad);
  for (const char* bad : {"", "Http", "h1", "a-b"})
    BOOST_CHECK_MESSAGE(problems_of_workload("\"http\"", std::string("\"") + bad + "\"")
                            .contains("/ports/0/name: must"),
                        bad);
  BOOST_TEST(problems_of_workload("\"dns\"", "\"http\"")
                 .contains("/ports/1/name: \"http\" is given twice"));
  BOOST_TEST(
      problems_of_workload("53", "8080").contains("/ports/1/containerPort: 8080 is given twice"));
  BOOST_TEST(problems_of_workload("53", "0").contains("must be a whole number from 1 to 65535"));
  BOOST_TEST(
      problems_of_workload("\"UDP\"", "\"SCTP\"")
          .contains(
              "/ports/1/protocol: is not supported: SCTP is not forwarded, as TCP and UDP are"));
}

BOOST_AUTO_TEST_CASE(an_image_has_a_valid_name) {  // OAM-11
  const std::string hash(64, 'a');
  const std::vector<std::string> good_names{"a", "a:b", "h.example/a/b:1.2",
                                            "localhost:5000/a@sha256:" + hash};
  for (const std::string& name : good_names)
    BOOST_CHECK_MESSAGE(problems_of_workload("example/foobar:1", name) == "", name);
  const std::vector<std::string> bad{"",   "A",   "a:",           "a::b",
                                     "a/", "a b", "a@sha256:xyz", "a@" + hash};
  for (const std::string& name : bad)
    BOOST_CHECK_MESSAGE(
        problems_of_workload("example/foobar:1", name).contains("/spec/containers/0/image: "),
        name);
}

BOOST_AUTO_TEST_CASE(a_config_file_has_a_path_and_a_content) {  // OAM-16
  BOOST_TEST(problems_of_workload(", \"value\": \"\"", "")
                 .contains("/config/1: must have value or fromParam: it has neither"));
  const std::string secret = ", \"fromSecret\": {\"name\": \"a\", \"key\": \"b\"}";
  BOOST_TEST(
      problems_of_workload(", \"value\": \"\"", secret)
          .contains("/config/1/fromSecret: is not supported: pass the secret as a variable"));
  BOOST_TEST(problems_of_workload("etc/b", "../b").contains("must not contain \"..\""));
  BOOST_TEST(problems_of_workload("etc/b", "etc/").contains("must name a file"));
  BOOST_TEST(problems_of_workload("etc/b", "etc/a").contains("is given twice"));
}

BOOST_AUTO_TEST_CASE(a_probe_asks_one_question) {  // OAM-18, OAM-19, OAM-20, OAM-21, OAM-22
  BOOST_TEST(problems_of_workload("\"tcpSocket\": {\"port\": 1}", "")
                 .contains("must have exactly one of exec, httpGet and tcpSocket, not 0"));
  BOOST_TEST(problems_of_workload("\"tcpSocket\": {\"port\": 1}",
                                  "\"tcpSocket\": {\"port\": 1}, \"exec\": {\"command\": [\"a\"]}")
                 .contains("must have exactly one of exec, httpGet and tcpSocket, not 2"));
  BOOST_TEST(problems_of_workload("[\"/bin/true\", \"x\"]", "[]")
                 .contains("must begin with the name of a program"));
  BOOST_TEST(problems_of_workload("[\"/bin/true\", \"x\"]", "\"/bin/true x\"")
                 .contains("must be a list of strings"));
  BOOST_TEST(problems_of_workload("\"port\": 1}", "\"port\": 0}").contains("from 1 to 65535"));
  BOOST_TEST(problems_of_workload("\"X-A\"", "\"X A\"").contains("is no name of an HTTP header"));
  BOOST_TEST(problems_of_workload("\"value\": \"b\"", "\"value\": \"b\\n\"")
                 .contains("contains a control character"));
  BOOST_TEST(problems_of_workload("\"/ready\"", "\"/a b\"").contains("contains a blank"));
  for (const char* name : {"periodSeconds\": 2", "timeoutSeconds\": 3", "successThreshold\": 4",
                           "failureThreshold\": 5"}) {
    std::string zero(name);
    zero.back() = '0';
    BOOST_CHECK_MESSAGE(problems_of_workload(name, zero).contains("from 1 to 2147483647, not 0"),
                        name);
  }
  BOOST_TEST(problems_of_workload("initialDelaySeconds\": 1", "initialDelaySeconds\": 0") == "");
  BOOST_TEST(problems_of_workload("periodSeconds\": 2", "periodSeconds\": 2.5")
                 .contains("must be a whole number"));  // OAM-38
}

BOOST_AUTO_TEST_CASE(a_volume_is_exclusive_unless_all_its_uses_share_it) {  // OAM-33 … OAM-36
  BOOST_TEST(problems_of_workload("\"RO\"", "\"ro\"")
                 .contains("/accessMode: unknown access mode \"ro\" (did you mean RO?)"));
  BOOST_TEST(
      problems_of_workload("\"Shared\"", "\"Any\"")
          .contains("/sharingPolicy: unknown sharing policy \"Any\" (known: Exclusive, Shared)"));
  BOOST_TEST(problems_of_workload("\"2G\"", "\"0\"")
                 .contains("/disk/required: must be a whole number above 0"));
  BOOST_TEST(problems_of_workload("\"/data\"", "\"data\"")
                 .contains("/mountPath: must be an absolute path"));
  const std::string second =
      R"("resources": {"volumes": [{"name": "data", "mountPath": "/d", "sharingPolicy": "Shared",
      "disk": {"required": "3G", "ephemeral": true}}], "cpu": {"required": 1})";
  const Pod pod = good(with(full_oam(), "\"resources\": {\"cpu\": {\"required\": 1}", second));
  BOOST_TEST((pod.volumes.size() == 1 && pod.volumes[0].least_bytes == 3ULL << 30));
  BOOST_TEST(problems(with(with(full_oam(), "\"resources\": {\"cpu\": {\"required\": 1}", second),
                           "RO\", \"sharingPolicy\": \"Shared\"", "RO\""))
                 .contains("/spec/containers/1/resources/volumes/0: the volume \"data\" is "
                           "exclusive and used twice, first "
                           "at /spec/containers/0/resources/volumes/0"));
  const Pod bound = good(with(full_oam(), "\"ephemeral\": true", "\"ephemeral\": false"));
  BOOST_TEST((bound.volumes[0].kind == Volume::Source::kOperator));
}

BOOST_AUTO_TEST_CASE(the_seed_s_booleans_are_those_of_yaml_1_1) {  // OAM-36
  const auto ephemeral = [](const std::string& word) {
    return "apiVersion: core.oam.dev/v1alpha2\nkind: ContainerizedWorkload\nmetadata: {name: "
           "a}\nspec:\n  containers:\n"
           "  - name: a\n    image: a\n    resources:\n      cpu: {required: 1}\n      memory: "
           "{required: 1K}\n"
           "      volumes: [{name: v, mountPath: /v, disk: {required: 2G, ephemeral: " +
           word + "}}]\n";
  };
  for (const char* word : {"n", "no", "off", "false", "N", "Off"})
    BOOST_TEST((good(ephemeral(word)).volumes[0].kind == Volume::Source::kOperator));
  for (const char* word : {"y", "yes", "on", "true", "Y", "ON"})
    BOOST_TEST((good(ephemeral(word)).volumes[0].kind == Volume::Source::kEmpty));
  for (const char* word : {"'n'", "0", "maybe"})
    BOOST_TEST(problems(ephemeral(word)).contains("/disk/ephemeral: must be true or false"));
}

BOOST_AUTO_TEST_CASE(an_extended_resource_is_a_group_version_and_kind) {  // OAM-37
  for (const char* bad : {"", "a", "a/b", "/v1.Kind", "a/v1.", "a/.Kind", "a/v1/x.Kind"})
    BOOST_CHECK_MESSAGE(problems_of_workload("ext.example.com/v1.MotionSensor", bad)
                            .contains("must be a group, version and kind"),
                        bad);
}

BOOST_AUTO_TEST_CASE(what_is_required_is_missed) {  // OAM-1 … OAM-12, OAM-30, OAM-31
  BOOST_TEST(problems("kind: ContainerizedWorkload") ==
             "f:1:1: /apiVersion: is missing, it is required\nf:1:1: /metadata: is missing, it is "
             "required\n"
             "f:1:1: /spec: is missing, it is required\n");
  BOOST_TEST(
      problems_of_workload("\"name\": \"shop\", ", "").contains("/metadata/name: is missing"));
  BOOST_TEST(problems(R"({"apiVersion": "core.oam.dev/v1alpha2", "kind": "ContainerizedWorkload",
      "metadata": {"name": "a"}, "spec": {"containers": []}})")
                 .contains("/spec/containers: must have at least one container"));
  const std::string empty =
      problems(R"({"apiVersion": "core.oam.dev/v1alpha2", "kind": "ContainerizedWorkload",
      "metadata": {"name": "a"}, "spec": {"containers": [{"resources": {}}]}})");
  for (const char* name : {"/name", "/image", "/resources/cpu", "/resources/memory"})
    BOOST_CHECK_MESSAGE(empty.contains(std::string("/spec/containers/0") + name + ": is missing"),
                        name);
  BOOST_TEST(problems_of_workload("\"cmd\"", "\"command\"")
                 .contains("/spec/containers/0/command: unknown name (known: name, image"));
}

BOOST_AUTO_TEST_CASE(paths_have_their_shortest_form) {  // OAM-16, OAM-33
  BOOST_TEST(problems_of_workload("\"/data\"", "\"/\"")
                 .contains("/mountPath: must be a path below the root directory"));
  BOOST_TEST(good(with(full_oam(), "\"/data\"", "\"//data/./x/\"")).containers[0].mounts[0].path ==
             "/data/x");
  BOOST_TEST(problems_of_workload("etc/b", "./etc//a")
                 .contains("/config/1/path: \"./etc//a\" is given twice"));
  for (const char* bad : {".", "/etc/.", "//"})
    BOOST_CHECK_MESSAGE(problems_of_workload("etc/b", bad).contains("must name a file"), bad);
}

BOOST_AUTO_TEST_CASE(all_faults_are_told_at_once) {
  const std::string all =
      problems(with(with(full_oam(), "\"name\": \"side\"", "\"name\": \"Web.1_a-b\""),
                    "8080, \"protocol\": \"TCP\"", "0"));
  BOOST_TEST(all.contains("/ports/0/containerPort: "));
  BOOST_TEST(all.contains("is given twice"));
}

BOOST_AUTO_TEST_CASE(gpus_are_devices_of_the_host_and_a_part_of_one_is_a_fault) {  // OAM-32
  const auto has_need = [](std::string_view count, bool is_fault, std::string_view sentence) {
    const auto needs = needs_of(good(with(full_oam(), "\"gpu\": {\"required\": 0}",
                                          "\"gpu\": {\"required\": " + std::string(count) + "}")));
    return std::ranges::any_of(needs, [&](const Need& need) {
      return need.is_fault == is_fault && need.sentence == sentence;
    });
  };
  BOOST_TEST(has_need("2", false,
                      "GPUs, 2: a CDI specification of the host with devices of the class gpu"));
  BOOST_TEST(
      has_need("0.5", true, "0.5 GPUs cannot be had: a container gets whole GPUs, at most 4096"));
  BOOST_TEST(has_need("1e30", true,
                      "1e+30 GPUs cannot be had: a container gets whole GPUs, at most 4096"));
}

BOOST_AUTO_TEST_CASE(an_extended_resource_may_be_devices_of_the_host) {  // OAM-37
  const auto sentence_of = [](std::string_view required) {
    const auto needs = needs_of(good(with(full_oam(), "\"required\": \"1\"",
                                          "\"required\": \"" + std::string(required) + "\"")));
    const auto found = std::ranges::find(needs, Gift::kExtended, &Need::gift);
    return found == needs.end() ? "" : found->sentence;
  };
  BOOST_TEST(
      sentence_of("1") ==
      "the extended resource ext.example.com/v1.MotionSensor: --extended "
      "ext.example.com/v1.MotionSensor=1, or a CDI specification of the host with devices of "
      "this kind");
  BOOST_TEST(sentence_of("much") ==
             "the extended resource ext.example.com/v1.MotionSensor: --extended "
             "ext.example.com/v1.MotionSensor=much");
}

BOOST_AUTO_TEST_SUITE_END()
