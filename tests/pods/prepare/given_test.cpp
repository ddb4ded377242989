#include "pods/prepare/given.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"
#include "tests/pods/documents/read.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

constexpr std::string_view kOam = R"(apiVersion: core.oam.dev/v1alpha2
kind: ContainerizedWorkload
metadata: {name: shop}
spec:
  containers:
  - name: web
    image: example.com/web
    config: [{path: /c, value: blue, fromParam: colour}]
    resources:
      cpu: {required: 1}
      memory: {required: 1M}
      volumes: [{name: data, mountPath: /d, disk: {required: 1K}}]
      extended: [{name: example.com/v1.Key, required: "1"}]
)";
constexpr std::string_view kKnative = R"(apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello}
spec: {template: {spec: {containers: [{image: i, ports: [{containerPort: 8081}],
  readinessProbe: {httpGet: {path: /, port: 8081}}, livenessProbe: {tcpSocket: {port: 8081}}}]}}}
)";

Given whole() {
  Given given;
  given.bindings.parameters = {{"colour", "red"}};
  given.volumes = {{"data", {.directory = HostPath("/srv"), .read_only = false}}};
  given.extended = {{"example.com/v1.Key", "1"}};
  return given;
}

std::string fault(const Given& given) {
  return must_fail(check_given(given, read_workload("f", kOam)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(given_by_the_operator)

BOOST_AUTO_TEST_CASE(what_a_document_names_must_be_given) {
  must(check_given(whole(), read_workload("f", kOam)));
  Given given = whole();
  given.bindings.parameters.clear();
  BOOST_TEST(fault(given).contains("--param colour=VALUE"));
  given = whole();
  given.volumes.clear();
  BOOST_TEST(fault(given).contains("--volume data=HOSTPATH"));
  BOOST_TEST(fault(given).starts_with("f:12:"));
  given = whole();
  given.extended.clear();
  BOOST_TEST(fault(given).contains("--extended example.com/v1.Key="));
}

BOOST_AUTO_TEST_CASE(all_that_is_missing_is_told_at_once) {
  const std::string all = fault({});
  for (const char* option : {"--param colour", "--volume data", "--extended example.com"})
    BOOST_TEST(all.contains(option), option);
}

BOOST_AUTO_TEST_CASE(a_mistyped_name_is_told_with_the_nearest_one) {
  Given given = whole();
  given.volumes.emplace("date", VolumeBinding{});
  BOOST_TEST(fault(given) ==
             "--volume date: the document names none of this name (did you mean data?)");
  given = whole();
  given.images = {{"web", "oci:x"}, {"example.com/web", "oci:y"}, {"other", "oci:z"}};
  BOOST_TEST(fault(given).starts_with("--image other: the document names none of this name"));
  given = whole();
  given.bindings.secrets.emplace("s", HostPath("/s"));
  BOOST_TEST(fault(given) == "--secret s: the document names none of this name");
}

BOOST_AUTO_TEST_CASE(what_a_document_beside_gives_need_not_be_given) {
  const std::string workload =
      "apiVersion: serving.knative.dev/v1\nkind: Revision\nmetadata: {name: r}\nspec: {containers: "
      "[{image: i, env: [{name: V, valueFrom: {secretKeyRef: {name: s, key: k}}}], envFrom: "
      "[{configMapRef: {name: m, optional: true}}]}]}\n";
  const std::string secret =
      "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {";
  const auto check = [&](const std::string& text, const Given& given = {}) {
    return check_given(given, read_workload("f", text));
  };
  BOOST_TEST(
      must_fail(check(workload)).contains("the secret \"s\": a document of the kind Secret"));
  must(check(workload + secret + "k: v}\n"));
  BOOST_TEST(must_fail(check(workload + secret + "l: v}\n")).contains("has no key \"k\""));
  Given given;
  const Scratch scratch;
  scratch.file("k", "v");
  const HostPath directory(scratch.path());
  given.bindings.secrets = {{"s", directory}, {"configmap/m", directory}};
  must(check(workload, given));
  must(check(workload + secret + "l: v}\n", given));
}

BOOST_AUTO_TEST_CASE(a_profile_of_a_container_is_read_before_anything_starts) {
  const Scratch scratch;
  const auto with_profile = [](const char* text) {
    return read_workload(
        "f", std::string("apiVersion: serving.knative.dev/v1\nkind: Revision\nmetadata: {name: r}\n"
                         "spec: {containers: [{image: i, securityContext: {seccompProfile: {") +
                 text + "}}}]}\n");
  };
  using Choice = SeccompChoice::Kind;
  Given given;
  given.seccomp.kind = Choice::kUnconfined;
  given.seccomp_profiles = scratch.path();
  const auto choice = [&](const Workload& workload) {
    return must(seccomp_of(workload.pod.containers[0], given));
  };
  BOOST_TEST((choice(with_profile("type: RuntimeDefault")).kind == Choice::kDefault));
  BOOST_TEST((choice(with_profile("type: Unconfined")).kind == Choice::kUnconfined));
  BOOST_TEST((choice(read_workload("f", kKnative)).kind == Choice::kUnconfined));
  const Workload local = with_profile("type: Localhost, localhostProfile: a/p.json");
  BOOST_TEST(
      must_fail(check_given(given, local))
          .starts_with("f:4:66: /spec/containers/0/securityContext/seccompProfile: the seccomp "
                       "profile " +
                       scratch.path() + "/a/p.json (--seccomp-profiles DIR): "));
  std::filesystem::create_directory(scratch / "a");
  scratch.file("a/p.json", R"({"defaultAction": "SCMP_ACT_LOG"})");
  must(check_given(given, local));
  BOOST_TEST(choice(local).profile == R"({"defaultAction": "SCMP_ACT_LOG"})");
  scratch.file("a/p.json", R"({"defaultAction": "LOG"})");
  BOOST_TEST(must_fail(check_given(given, local)).contains("the profile must be an object"));
  std::filesystem::remove(scratch / "a/p.json");
  std::filesystem::create_symlink("../../../../../../etc/passwd", scratch / "a/p.json");
  BOOST_TEST(must_fail(check_given(given, local)).contains("no such file"));
}

BOOST_AUTO_TEST_CASE(options_replace_parts_of_all_containers) {
  Pod pod = good(kOam);
  Given given;
  given.user = "web:staff";
  given.forbid_root = given.read_only_root = true;
  given.restart = Restart::kOnFailure;
  must(replace_parts(given, pod));
  BOOST_TEST((pod.restart == Restart::kOnFailure));
  BOOST_TEST((pod.containers[0].user == "web" && pod.containers[0].group == "staff"));
  BOOST_TEST((pod.containers[0].forbid_root && pod.containers[0].read_only_root));
}

BOOST_AUTO_TEST_CASE(a_variable_of_the_operator_takes_the_place_of_the_documents) {
  Pod pod = good(kKnative);
  pod.containers[0].env = {{.name = "A", .value = "1"}, {.name = "B", .value = "$(A)"}};
  pod.containers[0].annotations = {{"team", "one"}};
  Given given;
  given.variables = {{"A", "$(B)"}, {"C", ""}};
  given.labels = {{"team", "two"}};
  must(replace_parts(given, pod));
  const auto& env = pod.containers[0].env;
  BOOST_REQUIRE(env.size() == 3u);
  BOOST_TEST(
      (env[0].name == "C" && env[0].is_literal));  // the document's variables may refer to it
  BOOST_TEST(
      (env[1].name == "A" && std::get<std::string>(env[1].value) == "$(B)" && env[1].is_literal));
  BOOST_TEST((env[2].name == "B" && !env[2].is_literal));
  BOOST_TEST(pod.containers[0].annotations.at("team") == "two");
}

BOOST_AUTO_TEST_CASE(variables_that_no_program_can_have_are_refused_before_they_are_copied) {
  Pod pod = good(kOam);
  Given given;
  given.variables = {{"A", std::string(131'070, 'x')}};
  BOOST_TEST(
      must_fail(replace_parts(given, pod)).contains("the variable A of --env or --env-file"));
  given.variables.clear();
  for (int i = 0; i < 70; ++i)
    given.variables.emplace_back(fmt::format("A{}", i), std::string(100'000, 'x'));
  BOOST_TEST(must_fail(replace_parts(given, pod)).contains("--env and --env-file take 70"));
  given.variables.resize(10);
  pod.containers = std::vector<Container>(100, pod.containers.front());
  BOOST_TEST(must_fail(replace_parts(given, pod)).contains("for each of 100 containers"));
  BOOST_TEST(pod.containers.front().env.size() < 10U);
}

BOOST_AUTO_TEST_CASE(the_port_of_a_knative_container_moves_with_its_probes) {  // KN-5
  Pod pod = good(kKnative);
  pod.containers[0].liveness->question = TcpProbe{.port = 9000, .port_name = ""};
  Given given;
  given.port = 9090;
  must(replace_parts(given, pod));
  const Container& container = pod.containers[0];
  BOOST_TEST(container.ports[0].number == 9090);
  BOOST_TEST(std::get<HttpProbe>(container.readiness->question).port == 9090);
  BOOST_TEST(std::get<TcpProbe>(container.liveness->question).port == 9000);  // of another server
  Pod oam = good(kOam);
  BOOST_TEST(must_fail(replace_parts(given, oam)).starts_with("--port: only a Knative document"));
}

BOOST_AUTO_TEST_SUITE_END()
