// Applications.Core/containers: the first edition of the resource type, with one container.

#include "pods/documents/needs.hpp"
#include "pods/prepare/plan/variables.hpp"
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
  BOOST_TEST((pod.metadata.labels.at("team") == "a" && pod.metadata.annotations.at("note") == "b" &&
              pod.metadata.annotations.at("owner") == "me"));
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
                 .contains("/kind: unknown kind of probe \"grpc\" (known: httpGet, tcp, exec)"));
  BOOST_TEST(problems_of_core(kExec, "{}").contains("/readinessProbe/kind: is missing"));
  BOOST_TEST(problems_of_core(kExec, R"({"kind": "tcp"})").contains("/containerPort: is missing"));
  BOOST_TEST(problems_of_core(kExec, R"({"kind": "exec", "command": " "})")
                 .contains("/command: is empty"));
  BOOST_TEST(problems_of_core(kExec, R"({"kind": "tcp", "containerPort": 81, "path": "/"})")
                 .contains("/path: unknown name"));
  BOOST_TEST(problems_of_core(R"({"X-Odd": "1"})", R"({"X Odd": "1"})")
                 .contains("\"X Odd\" is no name of an HTTP header"));
  BOOST_TEST(problems_of_core(R"({"X-Odd": "1"})", R"({"X-Odd": "1", "x-odd": "2"})")
                 .contains("/x-odd: is another header's name too"));
}

BOOST_AUTO_TEST_CASE(numbers_of_a_probe_may_have_a_fraction_of_zeros) {
  const Pod pod = core_with("\"timeoutSeconds\": 4", "\"timeoutSeconds\": 5.0");
  BOOST_TEST((pod.containers[0].liveness->timeout == std::chrono::seconds(5)));
  for (const char* number : {"2.5", "0.0", "3000000000.0"})
    BOOST_TEST(
        problems_of_core("\"timeoutSeconds\": 4", fmt::format("\"timeoutSeconds\": {}", number))
            .contains("/timeoutSeconds: must be a whole number from 1"));
}

BOOST_AUTO_TEST_CASE(quotes_in_the_command_of_a_probe_are_warned_of) {
  BOOST_TEST(warnings(with(full_radius_core(), "test -e /ready", "sh -c 'a b'"))
                 .contains("has quotes, which group no words"));
  BOOST_TEST(!warnings(full_radius_core()).contains("quotes"));
}

BOOST_AUTO_TEST_CASE(many_headers_are_all_read) {
  std::string headers;
  for (int i = 0; i < 30'000; ++i) headers += fmt::format("\"H{}\": \"\", ", i);
  const Pod pod = core_with("{\"X-Odd\"", "{" + headers + "\"X-Odd\"");
  BOOST_TEST(std::get<HttpProbe>(pod.containers[0].liveness->question).headers.size() == 30'001U);
}

BOOST_AUTO_TEST_CASE(names_of_metadata_are_given_once) {
  const std::string_view tags = "{\"owner\": \"me\"}";
  BOOST_TEST(problems(with(full_radius_core(), tags, R"({"note": "x"})"))
                 .contains("is the name of another tag or annotation too"));
  // A label and a tag or an annotation may have the same name.
  BOOST_TEST(problems(with(full_radius_core(), tags, R"({"team": "x"})")) == "");
  BOOST_TEST(problems_of_core(R"("labels": {"team": "a"})", R"("labels": {"note": "a"})") == "");
  BOOST_TEST(problems_of_core(
                 "[{\"kind\": \"manual",
                 R"([{"kind": "kubernetesMetadata", "labels": {"team": "b"}}, {"kind": "manual)")
                 .contains("/extensions/2/labels/team: is the name of another"));
  BOOST_TEST(
      problems_of_core(R"("team": "a")", R"("te\u0000am": "a")").contains("must not contain NUL"));
  BOOST_TEST(problems_of_core(R"("A": {)", R"("A\u0000": {)").contains("\"=\" or NUL"));
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
  const Pod twice = core_with(
      R"("tmp": {"kind": "ephemeral", "mountPath": "/cache", "managedStore": "memory"})",
      R"("tmp": {"kind": "persistent", "mountPath": "/cache", "source": "/volumes/data"})");
  BOOST_REQUIRE((twice.volumes.size() == 1 && twice.containers[0].mounts.size() == 2));
  BOOST_TEST(twice.containers[0].mounts[0].read_only);
  BOOST_TEST(
      (twice.containers[0].mounts[1].volume == "tmp" && !twice.containers[0].mounts[1].read_only));
  BOOST_TEST(
      problems_of_core(R"("workingDir": "/srv")", R"("volumeMounts": {})")
          .contains(
              "belongs to Radius.Compute/containers: write volumes, each with its mountPath"));
  BOOST_TEST(problems_of_core("\"status\": {}", "\"volumes\": {}")
                 .contains("belongs to Radius.Compute/containers: write volumes in the container"));
}

BOOST_AUTO_TEST_CASE(a_connection_to_a_url_needs_no_parameter) {  // RX-16
  const auto needs = [](const Pod& pod) {
    std::string text;
    for (const Need& need : needs_of(pod)) text += need.sentence + '\n';
    return text;
  };
  const auto variables = [](const Pod& pod, std::map<std::string, std::string> parameters) {
    Bindings bindings;
    bindings.parameters = std::move(parameters);
    std::string text;
    for (const auto& [name, value] : connection_variables(pod, bindings))
      text += fmt::format("{}={} ", name, value);
    return text;
  };
  const Pod pod = good(full_radius_core());
  BOOST_TEST(needs(pod).contains("the properties of the connection \"cache\""));
  BOOST_TEST(!needs(pod).contains("backend"));
  BOOST_TEST(variables(pod, {}) ==
             "CONNECTION_BACK_HOSTNAME=backend CONNECTION_BACK_PORT=3000 "
             "CONNECTION_BACK_SCHEME=http ");
  BOOST_TEST(variables(pod, {{"back.port", "1"}}).contains("CONNECTION_BACK_PORT=1 "));
  BOOST_TEST(variables(core_with("backend:3000/api", "[::1]:80"), {})
                 .starts_with("CONNECTION_BACK_HOSTNAME=::1 CONNECTION_BACK_PORT=80"));
  BOOST_TEST(needs(core_with("http://backend:3000/api", "http://backend/api"))
                 .contains("the port of the connection \"back\", which the URL http://backend/api "
                           "lacks: --param back.port=PORT"));
  BOOST_TEST(variables(core_with("http://backend:3000/api", "/x://b:1"), {}) == "");
}

BOOST_AUTO_TEST_CASE(a_connection_has_a_url_or_an_id) {
  for (const char* source :
       {"ht\\ntp://b:1", "1 2://h:1", "http://b c:1", "http://:80", "http://[]:1", "http://a:b:1",
        "http://h:0", "http://h:99999", "http://u@h:1", "http://h:", "http://[::1]x:1"})
    BOOST_CHECK_MESSAGE(problems_of_core("http://backend:3000/api", source)
                            .contains("/source: must be the id of a resource, or a URL"),
                        source);
  BOOST_TEST(problems_of_core("\"back\": {", "\"CACHE\": {")
                 .contains("/connections/CACHE: its variables have the names of those of the "
                           "connection \"cache\""));
  for (const char* name : {"", "a=b", "a.b"})
    BOOST_CHECK_MESSAGE(problems_of_core("\"back\": {", fmt::format("\"{}\": {{", name))
                            .contains("the name must be letters, digits"),
                        name);
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
  BOOST_TEST(problems_of_core(R"({"kind": "manualScaling", "replicas": 1})", "null")
                 .contains("/extensions/0: must be an object"));
  BOOST_TEST(problems_of_core(R"([{"kind": "manualScaling", "replicas": 1},)", R"([{"kind": 3},)")
                 .contains("/extensions/0/kind: "));
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
                 .contains("/name: must have no dots, because the container has this name too, not "
                           "\"shop.example\": write \"-\""));
  const std::string longest(64, 'a');
  BOOST_TEST(read_workload("f", with(full_radius_core(), "shop", longest)).problem_count == 1U);
  BOOST_TEST(problems(R"({"name": "a", "type": "Applications.Core/containers", "properties": {}})")
                 .contains("/properties/container: is missing"));
  BOOST_TEST(problems(R"({"name": "a", "properties": {}})")
                 .contains("/properties/containers: is missing"));
  BOOST_TEST(problems(R"({"name": "a", "properties": {"container": [], "containers": {}}})")
                 .contains("/properties/container: was removed"));
}

BOOST_AUTO_TEST_SUITE_END()
