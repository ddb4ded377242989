// Applications.Core/containers: the first edition of the resource type, with one container.

#include "pods/documents/needs.hpp"
#include "pods/plan/variables.hpp"
#include "tests/pods/documents/full.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

std::string problems_of_core(std::string_view from, std::string_view to) {
  return problems(with(full_radius_core(), from, to));
}

Pod core_with(std::string_view from, std::string_view to) {
  return good(with(full_radius_core(), from, to));
}

constexpr std::string_view kExec = R"({"kind": "exec", "command": "test -e /ready"})";

}  // namespace

BOOST_AUTO_TEST_SUITE(radius_applications_core)

BOOST_AUTO_TEST_CASE(every_attribute_reaches_the_pod) {
  const Pod pod = good(full_radius_core());
  BOOST_TEST((pod.kind == Kind::kRadius && pod.restart == Restart::kAlways && pod.name == "shop"));
  BOOST_TEST((pod.labels.at("team") == "a" && pod.annotations.at("note") == "b" &&
              pod.annotations.at("owner") == "me"));
  BOOST_REQUIRE((pod.containers.size() == 1 && pod.init_containers.empty()));
  const Container& web = pod.containers[0];
  BOOST_TEST((web.name == "shop" && web.image == "example/web:1"));
  BOOST_TEST((web.pull_policy == PullPolicy::kMissing));
  BOOST_TEST((web.command == std::vector<std::string>{"/bin/httpd"} &&
              web.args == std::vector<std::string>{"-f"} && web.working_directory == "/srv"));
  BOOST_REQUIRE(web.env.size() == 2U);
  BOOST_TEST(std::get<std::string>(web.env[0].value) == "x");
  const auto& key = std::get<SecretKey>(web.env[1].value);
  BOOST_TEST((key.secret == "db" && key.key == "password"));
  BOOST_TEST((web.ports.size() == 1 && web.ports[0].name == "http" && web.ports[0].number == 8080 &&
              web.ports[0].service == 80));
}

BOOST_AUTO_TEST_CASE(the_kind_of_a_probe_is_its_question) {
  using std::chrono::seconds;
  const Pod pod = good(full_radius_core());
  const Probe& live = *pod.containers[0].liveness;
  const auto& http = std::get<HttpProbe>(live.question);
  BOOST_TEST((http.port == 8080 && http.path == "/live" && !http.tls));
  BOOST_TEST((http.headers.at(0).name == "X-Odd" && http.headers.at(0).value == "1"));
  BOOST_TEST((live.initial_delay == seconds(2) && live.period == seconds(3) &&
              live.timeout == seconds(4) && live.failure_threshold == 5));
  const Probe& ready = *pod.containers[0].readiness;
  BOOST_TEST((std::get<ExecProbe>(ready.question).command ==
              std::vector<std::string>{"test", "-e", "/ready"}));
  BOOST_TEST((ready.initial_delay == seconds(0) && ready.period == seconds(10) &&
              ready.timeout == seconds(5) && ready.failure_threshold == 3));
  const Pod tcp = core_with(kExec, R"({"kind": "tcp", "containerPort": 81})");
  BOOST_TEST(std::get<TcpProbe>(tcp.containers[0].readiness->question).port == 81);
  BOOST_TEST(problems_of_core(kExec, R"({"kind": "grpc"})")
                 .contains("/readinessProbe/kind: must be httpGet, tcp or exec"));
  BOOST_TEST(problems_of_core(kExec, R"({"kind": "tcp"})").contains("/containerPort: is missing"));
  BOOST_TEST(problems_of_core(kExec, R"({"kind": "exec", "command": " "})")
                 .contains("/command: is empty"));
  BOOST_TEST(problems_of_core(kExec, R"({"kind": "tcp", "containerPort": 81, "path": "/"})")
                 .contains("/path: unknown name"));
  BOOST_TEST(problems_of_core(R"({"X-Odd": "1"})", R"({"X Odd": "1"})")
                 .contains("the name is no name of an HTTP header"));
  BOOST_TEST(problems_of_core(R"({"X-Odd": "1"})", R"({"X-Odd": "1", "x-odd": "2"})")
                 .contains("/x-odd: is another header's name too"));
}

BOOST_AUTO_TEST_CASE(a_volume_says_where_it_is_mounted) {
  const Pod pod = good(full_radius_core());
  BOOST_REQUIRE((pod.volumes.size() == 2 && pod.containers[0].mounts.size() == 2));
  const Volume& tmp = pod.volumes[0];
  BOOST_TEST((tmp.name == "tmp" && tmp.kind == Volume::Source::kEmpty && tmp.in_memory));
  BOOST_TEST(tmp.mode == 0777U);
  const Mount& cache = pod.containers[0].mounts[0];
  BOOST_TEST((cache.volume == "tmp" && cache.path == "/cache" && !cache.read_only));
  const Volume& data = pod.volumes[1];
  BOOST_TEST((data.kind == Volume::Source::kOperator && data.source == "/volumes/data"));
  BOOST_TEST(!pod.containers[0].mounts[1].read_only);
  BOOST_TEST(core_with(R"(, "permission": "write")", "").containers[0].mounts[1].read_only);
  BOOST_TEST(core_with("\"write\"", "\"read\"").containers[0].mounts[1].read_only);
  BOOST_TEST(!core_with("\"memory\"", "\"disk\"").volumes[0].in_memory);
  BOOST_TEST(problems_of_core("\"ephemeral\"", "\"secret\"")
                 .contains("unknown kind of volume \"secret\" (known: ephemeral, persistent)"));
  BOOST_TEST(problems_of_core(R"("kind": "ephemeral", )", "")
                 .contains("/tmp/kind: is missing, it is required: ephemeral or persistent"));
  BOOST_TEST(
      problems_of_core(R"("mountPath": "/cache", )", "").contains("/tmp/mountPath: is missing"));
  BOOST_TEST(
      problems_of_core("\"/cache\"", "\"/data\"").contains("is the path of another mount too"));
  BOOST_TEST(problems_of_core(R"(, "managedStore": "memory")", "")
                 .contains("/tmp/managedStore: is missing"));
}

BOOST_AUTO_TEST_CASE(a_connection_to_a_url_needs_no_parameter) {  // RX-16
  const Workload workload = read_workload("f", full_radius_core());
  std::string needs;
  for (const Need& need : needs_of(workload.pod)) needs += need.sentence + '\n';
  BOOST_TEST(needs.contains("the properties of the connection \"cache\""));
  BOOST_TEST(!needs.contains("backend"));
  const auto variables = [](const Pod& pod, std::map<std::string, std::string> parameters) {
    Bindings bindings;
    bindings.parameters = std::move(parameters);
    std::string text;
    for (const auto& [name, value] : connection_variables(pod, bindings))
      text += name + "=" + value + " ";
    return text;
  };
  BOOST_TEST(variables(workload.pod, {}) ==
             "CONNECTION_BACK_HOSTNAME=backend CONNECTION_BACK_PORT=3000 "
             "CONNECTION_BACK_SCHEME=http ");
  BOOST_TEST(variables(workload.pod, {{"back.port", "1"}}).contains("CONNECTION_BACK_PORT=1 "));
  BOOST_TEST(variables(core_with("backend:3000/api", "[::1]:80"), {})
                 .starts_with("CONNECTION_BACK_HOSTNAME=::1 CONNECTION_BACK_PORT=80"));
  for (const char* source :
       {"http://backend", "backend:80", "http://u@h:1", "http://:80", "http://h:x"})
    BOOST_TEST(variables(core_with("http://backend:3000/api", source), {}) == "");
}

BOOST_AUTO_TEST_CASE(what_a_cloud_or_a_cluster_gives_is_refused_by_name) {
  const auto refused = [](std::string_view from, std::string_view to, std::string_view name) {
    const std::string changed = with(full_radius_core(), from, to);
    BOOST_TEST(problems(changed).contains(fmt::format("(--ignore {} leaves it out)", name)));
    const std::vector<std::string> ignored{std::string(name)};
    BOOST_TEST(lines(read_workload("f", changed, ignored).problems) == "");
  };
  refused(R"("kind": "x")", R"("iam": {"kind": "azure"})", "iam");
  refused(R"("aci": {"gatewayID": "/x"})", R"("kubernetes": {"pod": {}})", "kubernetes");
  refused("\"status\": {}", R"("identity": {"kind": "undefined"})", "identity");
  refused("\"internal\"", "\"manual\"", "resourceProvisioning");
  refused(R"({"kind": "manualScaling", "replicas": 1})", R"({"kind": "daprSidecar", "appId": "a"})",
          "daprSidecar");
  BOOST_TEST(problems_of_core("\"internal\"", "\"recipe\"")
                 .contains("must be internal or manual, not \"recipe\""));
  BOOST_TEST(problems_of_core(R"({"kind": "manualScaling", "replicas": 1})", R"({"kind": "aci"})")
                 .contains("unknown extension (known: manualScaling, daprSidecar, "
                           "kubernetesMetadata)"));
}

BOOST_AUTO_TEST_CASE(the_edition_is_that_of_the_type) {
  BOOST_TEST(
      good(R"({"name": "a", "properties": {"container": {"image": "b"}}})").containers[0].name ==
      "a");
  BOOST_TEST(problems_of_core("Applications.Core", "Radius.Compute")
                 .contains("/properties/container: was removed"));
  BOOST_TEST(problems_of_core("\"shop\"", "\"shop.example\"")
                 .contains("/name: is the name of the container too, which has no dots"));
  BOOST_TEST(problems(R"({"name": "a", "type": "Applications.Core/containers", "properties": {}})")
                 .contains("/properties/container: is missing"));
  BOOST_TEST(problems(R"({"name": "a", "properties": {}})")
                 .contains("/properties/containers: is missing"));
  BOOST_TEST(problems(R"({"name": "a", "properties": {"container": [], "containers": {}}})")
                 .contains("/properties/container: was removed"));
}

BOOST_AUTO_TEST_SUITE_END()
