// AC-22: what the metadata service tells of a pod, from the document and the images.

#include "pods/metadata/manifest.hpp"

#include <boost/test/unit_test.hpp>

#include "bundle/json/document.hpp"
#include "tests/must.hpp"
#include "tests/pods/documents/full.hpp"
#include "tests/pods/documents/read.hpp"

namespace ocirun::pods {
namespace {

using test::must;
using test::must_fail;

/// A JSON text as a tree, for looking at single values.
class Json {
 public:
  explicit Json(const std::string& text) {
    BOOST_REQUIRE_MESSAGE(document_.parse(text, report_), text);
  }
  /// The text of the value at "apps/0/name"; a number in digits; "(none)".
  std::string at(std::string_view path) {
    const bundle::Node* node = document_.root();
    while (!path.empty() && node != nullptr) {
      const std::string_view name = path.substr(0, path.find('/'));
      path.remove_prefix(std::min(name.size() + 1, path.size()));
      if (node->is_array()) {
        std::size_t index = std::stoul(std::string(name));
        for (node = node->first; node != nullptr && index != 0; --index) node = node->next;
      } else {
        node = node->find(name);
      }
    }
    if (node == nullptr) return "(none)";
    if (node->kind == bundle::Node::Kind::kBoolean) return node->boolean ? "true" : "false";
    if (node->kind == bundle::Node::Kind::kNatural) return std::to_string(node->number);
    return std::string(node->text);
  }

 private:
  bundle::Document document_;
  bundle::Report report_;
};

struct ManifestFixture {
  Workload workload = read_workload("f", full_appc());
  ImageConfig image;
  Launch launch;
  Reified reified;

  ManifestFixture() {
    BOOST_TEST(lines(workload.problems) == "");
    image.platform = {"linux", "amd64", ""};
    image.created = "2026-11-25T00:00:00Z";
    image.author = "me";
    image.config.user = "web:www";
    image.config.entrypoint = {"/srv"};
    image.config.cmd = {"-x"};
    image.config.env = {"A=image", "EMPTY=", "EQUALS=a=b"};
    image.config.exposed_ports = {"80/tcp", "53/udp", "90", "1-5/tcp"};
    image.config.volumes = {"/Var/lib"};
    image.config.working_dir = "/srv";
    image.config.labels = {{"foo", "image"}, {"org.example.title", "t"}, {"Not_AC", "x"}};
    launch.args = {"/bin/worker", "-v"};
    launch.env = {"PATH=/bin", "AC_METADATA_URL=http://127.0.0.1:1/secret", "A=b"};
    launch.cwd = "/tmp";
    launch.account = {.uid = *Uid::make(7),
                      .gid = *Gid::make(8),
                      .additional_gids = {*Gid::make(9)},
                      .home = "/"};
    reified.apps = {{.container = &workload.pod.containers.at(0),
                     .launch = &launch,
                     .image = &image,
                     .image_digest = Digest(Digest::Algorithm::kSha256, std::string(64, 'c'))}};
  }

  Json manifest() const { return Json(pod_manifest(workload, reified)); }
  std::string body(std::string_view path) const {
    for (const Resource& resource : resources_of(workload, reified, "the-uuid"))
      if (resource.path == path) return resource.body;
    return "(none)";
  }
};

BOOST_FIXTURE_TEST_SUITE(metadata_manifests, ManifestFixture)

BOOST_AUTO_TEST_CASE(the_pod_manifest_has_what_was_found_out) {  // AC-22
  Json json(pod_manifest(workload, reified));
  BOOST_TEST(json.at("acKind") == "PodManifest");
  BOOST_TEST(json.at("acVersion") == "0.8.11");
  BOOST_TEST(json.at("apps/0/name") == "worker");
  BOOST_TEST(json.at("apps/0/image/name") == "example.com/worker");
  BOOST_TEST(json.at("apps/0/image/id") == "sha256-" + std::string(64, 'c'));
  BOOST_TEST(json.at("apps/0/image/labels/0/name") == "version");
  BOOST_TEST(json.at("apps/0/app/exec/1") == "-v");
  BOOST_TEST(json.at("apps/0/app/user") == "7");
  BOOST_TEST(json.at("apps/0/app/group") == "8");
  BOOST_TEST(json.at("apps/0/app/supplementaryGIDs/0") == "9");
  BOOST_TEST(json.at("apps/0/app/workingDirectory") == "/tmp");
  BOOST_TEST(json.at("apps/0/app/environment/1/value") == "b");
  BOOST_TEST(json.at("apps/0/app/mountPoints/0/readOnly") == "true");
  BOOST_TEST(json.at("apps/0/app/ports/0/port") == "21");
  BOOST_TEST(json.at("apps/0/app/isolators/0/value/limit") == "1G");
  BOOST_TEST(json.at("apps/0/app/userLabels/l") == "y");
  BOOST_TEST(json.at("apps/0/readOnlyRootFS") == "true");
  BOOST_TEST(json.at("apps/0/annotations/0/value") == "baz");
  BOOST_TEST(json.at("isolators/1/name") == "resource/cpu");
  BOOST_TEST(json.at("annotations/0/name") == "owner");
  BOOST_TEST(json.at("userAnnotations/any thing") == "x");
}

BOOST_AUTO_TEST_CASE(the_pod_manifest_does_not_give_the_token_away) {  // AC-22
  BOOST_TEST(pod_manifest(workload, reified).find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_pod_manifest_is_a_pod_manifest_again) {  // AC-22
  reified.volumes = {{.name = "tmp", .directory = "/srv/tmp", .read_only = true}};
  const std::string text = pod_manifest(workload, reified);
  BOOST_TEST(problems(text) == "", text);
  const Pod again = good(text);
  BOOST_TEST(again.volumes.size() == workload.pod.volumes.size());
}

BOOST_AUTO_TEST_CASE(volumes_are_shown_as_they_are_bound) {  // AC-22
  BOOST_TEST(manifest().at("apps/0/mounts/0/volume") == "data");
  BOOST_TEST(manifest().at("apps/0/mounts/1/volume") == "own");
  BOOST_TEST(manifest().at("apps/0/mounts/1/appVolume/mode") == "1777");
  BOOST_TEST(manifest().at("volumes/0/source") == "/srv/data");
  BOOST_TEST(manifest().at("volumes/0/recursive") == "false");
  BOOST_TEST(manifest().at("volumes/1/kind") == "empty");
  BOOST_TEST(manifest().at("volumes/1/mode") == "0700");
  BOOST_TEST(manifest().at("volumes/1/gid") == "2");
  BOOST_TEST(manifest().at("volumes/2") == "(none)");
  reified.volumes = {{.name = "tmp", .directory = "/given", .read_only = true}};
  BOOST_TEST(manifest().at("volumes/1/kind") == "host");
  BOOST_TEST(manifest().at("volumes/1/source") == "/given");
  BOOST_TEST(manifest().at("volumes/1/readOnly") == "true");
  workload.pod.containers[0].mounts.clear();
  reified.volumes = {{.name = "work", .directory = "/given", .read_only = false}};
  BOOST_TEST(manifest().at("apps/0/mounts/0/path") == "/work");
  BOOST_TEST(manifest().at("volumes/2/name") == "work");
  BOOST_TEST(manifest().at("volumes/2/source") == "/given");
}

BOOST_AUTO_TEST_CASE(ports_of_the_host_are_shown_with_the_ports_that_they_lead_to) {  // AC-22
  BOOST_TEST(manifest().at("ports/0/hostPort") == "2121");
  BOOST_TEST(manifest().at("ports/0/hostIP") == "203.0.113.23");
  BOOST_TEST(manifest().at("ports/0/podPort/port") == "21");
  workload.pod.host_ports[0].pod_port.reset();
  BOOST_TEST(manifest().at("ports/0/podPort/port") == "21");  // by the name of the app's port
  workload.pod.host_ports.clear();
  BOOST_TEST(manifest().at("ports/0") == "(none)");
}

BOOST_AUTO_TEST_CASE(the_image_manifest_is_derived_from_the_configuration_of_the_image) {  // AC-22
  Json json(body("apps/worker/image/manifest"));
  BOOST_TEST(json.at("acKind") == "ImageManifest");
  BOOST_TEST(json.at("acVersion") == "0.8.11");
  BOOST_TEST(json.at("name") == "example.com/worker");
  BOOST_TEST(json.at("labels/0/value") == "amd64");
  BOOST_TEST(json.at("labels/2/value") == "1.0.0");
  BOOST_TEST(json.at("app/exec/0") == "/srv");
  BOOST_TEST(json.at("app/exec/1") == "-x");
  BOOST_TEST(json.at("app/user") == "web");
  BOOST_TEST(json.at("app/group") == "www");
  BOOST_TEST(json.at("app/environment/1/value") == "");
  BOOST_TEST(json.at("app/environment/2/value") == "a=b");
  BOOST_TEST(json.at("app/mountPoints/0/name") == "var-lib");
  BOOST_TEST(json.at("app/mountPoints/0/path") == "/Var/lib");
  BOOST_TEST(json.at("app/ports/0/name") == "80-tcp");
  BOOST_TEST(json.at("app/ports/1/protocol") == "udp");
  BOOST_TEST(json.at("app/ports/2/protocol") == "tcp");
  BOOST_TEST(json.at("app/ports/3") == "(none)");
  BOOST_TEST(body("apps/worker/image/id") == "sha256-" + std::string(64, 'c'));
}

BOOST_AUTO_TEST_CASE(an_image_without_a_program_has_no_app) {  // AC-22
  image.config.entrypoint.clear();
  image.config.cmd.clear();
  workload.pod.containers[0].image_name.clear();
  Json json(body("apps/worker/image/manifest"));
  BOOST_TEST(json.at("app") == "(none)");
  BOOST_TEST(json.at("name") == "worker");
}

BOOST_AUTO_TEST_CASE(annotations_of_an_app_are_stronger_than_those_of_its_image) {  // AC-22
  BOOST_TEST(
      body("apps/worker/annotations") ==
      R"([{"name":"authors","value":"me"},{"name":"created","value":"2026-11-25T00:00:00Z"},)"
      R"({"name":"foo","value":"baz"},{"name":"org.example.title","value":"t"}])");
  BOOST_TEST(body("pod/annotations") == R"([{"name":"owner","value":"me"}])");
  BOOST_TEST(body("pod/uuid") == "the-uuid");
}

BOOST_AUTO_TEST_CASE(
    only_an_app_container_pod_that_leaves_the_address_alone_has_a_service) {  // AC-22
  must(check_metadata(workload));
  BOOST_TEST(must_fail(check_metadata(read_workload("f", full_radius()))) ==
             "--metadata: only an App Container pod has a metadata service, not a document of the "
             "kind Radius container resource");
  const Workload setting = read_workload(
      "f", with(full_appc(), R"({"name": "A", "value")", R"({"name": "AC_METADATA_URL", "value")"));
  const std::string said = must_fail(check_metadata(setting));
  BOOST_TEST(
      said.find("/apps/0/app/environment/0: AC_METADATA_URL must not be set") != std::string::npos,
      said);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ocirun::pods
