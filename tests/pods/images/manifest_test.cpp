#include "pods/images/manifest.hpp"

#include <boost/test/unit_test.hpp>

#include "pods/images/image_config.hpp"
#include "tests/must.hpp"
#include "tests/pods/images/text.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

std::string manifest() {
  const std::string digest = digest_of("x").text();
  return R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",)"
         R"("config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":")" +
         digest + R"(","size":1},"layers":[)" +
         R"({"mediaType":"application/vnd.oci.image.layer.v1.tar+zstd","digest":")" + digest +
         R"(","size":7,"annotations":{"a":"b"}}],"annotations":{"k":"v"}})";
}

std::string config() {
  return R"({"architecture":"arm64","os":"linux","variant":"v8","created":"2020-01-01T00:00:00Z",)"
         R"("config":{"User":"1:2","ExposedPorts":{"80/tcp":{}},"Env":["A=b"],"Entrypoint":["/e"],)"
         R"("Cmd":null,"Volumes":{"/data":{}},"WorkingDir":"/w","Labels":{"l":"m"},)"
         R"("StopSignal":"SIGINT","Healthcheck":{"Test":["NONE"]}},)"
         R"("rootfs":{"type":"layers","diff_ids":[")" +
         digest_of("x").text() + R"("]},"history":[{"created_by":"x","empty_layer":true}]})";
}

std::string manifest_error(std::string_view from, std::string_view to) {
  return must_fail(parse_manifest("m", replaced(manifest(), from, to)));
}
std::string config_error(std::string_view from, std::string_view to) {
  return must_fail(parse_image_config("c", replaced(config(), from, to)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(image_documents)

BOOST_AUTO_TEST_CASE(a_manifest_is_read_with_its_descriptors) {
  const Manifest read = must(parse_manifest("m", manifest()));
  BOOST_TEST(read.layers.size() == 1u);
  BOOST_TEST(read.layers[0].size == 7u);
  BOOST_TEST((read.layers[0].type().compression == Compression::kZstd));
  BOOST_TEST((read.config.digest == digest_of("x")));
  BOOST_TEST(read.annotations.at("k") == "v");
}

BOOST_AUTO_TEST_CASE(the_media_types_of_docker_mean_the_same) {
  BOOST_TEST((media_type("application/vnd.docker.image.rootfs.diff.tar.gzip").compression ==
              Compression::kGzip));
  BOOST_TEST((media_type("application/vnd.docker.distribution.manifest.list.v2+json").kind ==
              BlobKind::kIndex));
  BOOST_TEST((media_type("application/json").kind == BlobKind::kOther));
}

BOOST_AUTO_TEST_CASE(a_manifest_that_cannot_be_run_is_refused_with_the_reason) {
  BOOST_TEST(has(manifest_error("2,", "1,"), "/schemaVersion: must be 2, not 1"));
  BOOST_TEST(has(manifest_error("image.manifest", "image.index"), "a media type of a manifest"));
  BOOST_TEST(has(manifest_error("image.config", "empty"), "no configuration of a container image"));
  BOOST_TEST(has(manifest_error("layer.v1.tar+zstd", "layer.nondistributable.v1.tar+zstd"),
                 "may not be distributed"));
  BOOST_TEST(has(manifest_error("tar+zstd", "squashfs"), "is no layer"));
  BOOST_TEST(has(manifest_error("{\"schema", "{\"artifactType\":\"a/b\",\"schema"), "artifact"));
  BOOST_TEST(has(manifest_error("\"size\":7", "\"size\":-7"), "/layers/0/size"));
  BOOST_TEST(has(manifest_error("\"size\":7", "\"size\":7.5"), "/layers/0/size"));
  BOOST_TEST(has(manifest_error("\"size\":7,", ""), "/layers/0/size: is missing"));
  BOOST_TEST(has(manifest_error("sha256:", "md5:"), "must begin with sha256: or sha512:"));
}

BOOST_AUTO_TEST_CASE(a_document_that_is_manifest_and_index_at_once_is_refused) {
  BOOST_TEST(has(manifest_error("{\"schema", "{\"manifests\":[],\"schema"), "two meanings"));
  BOOST_TEST(has(must_fail(parse_index("i", R"({"schemaVersion":2,"manifests":[],"layers":[]})")),
                 "two meanings"));
  BOOST_TEST(has(must_fail(parse_index("i", R"({"schemaVersion":2,"manifests":[],"mediaType":)"
                                            R"("application/vnd.oci.image.manifest.v1+json"})")),
                 "must be a media type of an index"));
}

BOOST_AUTO_TEST_CASE(a_member_that_is_given_twice_is_an_error) {
  BOOST_TEST(has(manifest_error("{\"schema", "{\"layers\":[],\"schema"), "layers"));
}

BOOST_AUTO_TEST_CASE(a_configuration_is_read_whole) {
  const ImageConfig read = must(parse_image_config("c", config()));
  BOOST_TEST(read.platform.text() == "linux/arm64/v8");
  BOOST_TEST(read.config.user == "1:2");
  BOOST_TEST(read.config.exposed_ports == std::vector<std::string>{"80/tcp"});
  BOOST_TEST(read.config.env == std::vector<std::string>{"A=b"});
  BOOST_TEST(read.config.entrypoint == std::vector<std::string>{"/e"});
  BOOST_TEST(read.config.cmd.empty());
  BOOST_TEST(read.config.volumes == std::vector<std::string>{"/data"});
  BOOST_TEST(read.config.working_dir == "/w");
  BOOST_TEST(read.config.labels.at("l") == "m");
  BOOST_TEST(read.config.stop_signal == "SIGINT");
  BOOST_TEST(read.diff_ids.size() == 1u);
  BOOST_TEST(read.history.at(0).empty_layer);
}

BOOST_AUTO_TEST_CASE(a_bad_configuration_is_refused_with_the_place) {
  BOOST_TEST(has(config_error("\"layers\"", "\"tree\""), "/rootfs/type: must be \"layers\""));
  BOOST_TEST(has(config_error("\"os\":\"linux\",", ""), "/os: is missing"));
  BOOST_TEST(has(config_error("A=b", "A"), "/config/Env/0"));
  BOOST_TEST(has(config_error("sha256:", "sha256:0"), "/rootfs/diff_ids/0"));
  BOOST_TEST(has(config_error("\"/w\"", "\"/w\\u0000\""), "/config/WorkingDir"));
}

BOOST_AUTO_TEST_CASE(a_chain_id_names_a_layer_with_those_below_it) {
  const Digest a = digest_of("a"), b = digest_of("b");
  const auto chain = chain_ids({a, b});
  BOOST_TEST((chain[0] == a));
  BOOST_TEST((chain[1] == digest_of(a.text() + " " + b.text())));
}

BOOST_AUTO_TEST_CASE(an_image_for_an_earlier_variant_suits_less_than_the_exact_one) {
  const Platform v7{"linux", "arm", "v7"}, v6{"linux", "arm", "v6"}, v8{"linux", "arm64", "v8"};
  BOOST_TEST(suitability(v7, v7) > suitability(v6, v7));
  BOOST_TEST(suitability(v6, v7) > 0);
  BOOST_TEST(suitability(v7, v6) == 0);
  BOOST_TEST(suitability({"linux", "arm64", ""}, v8) == suitability(v8, v8));
  BOOST_TEST(suitability({"windows", "amd64", ""}, {"linux", "amd64", ""}) == 0);
  BOOST_TEST(suitability({"unknown", "unknown", ""}, {"linux", "amd64", ""}) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
