#include "pods/images/layout.hpp"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "tests/pods/images/layout_scene.hpp"
#include "tests/pods/images/text.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

std::string layout_error(const LayoutScene& scene, const std::string& reference = "") {
  return must_fail(scene.find(reference));
}

const Platform kOther{"linux", Platform::host().architecture == "s390x" ? "amd64" : "s390x", ""};

}  // namespace

BOOST_AUTO_TEST_SUITE(image_sources)

BOOST_AUTO_TEST_CASE(the_only_image_needs_no_name) {
  LayoutScene scene;
  const std::string descriptor = scene.image({"tar one", "tar two"});
  scene.set_index(descriptor);
  const Image image = must(scene.find());
  BOOST_TEST(image.digest.text() == LayoutScene::digest_in(descriptor));
  BOOST_TEST(image.layers.size() == 2u);
  BOOST_TEST((image.layers[1].digest == digest_of("tar two")));
  BOOST_TEST(image.layers[1].size == 7u);
  BOOST_TEST(image.config.config.cmd == std::vector<std::string>{"/a"});
}

BOOST_AUTO_TEST_CASE(an_archive_of_a_layout_is_the_same_also_compressed) {
  LayoutScene scene;
  const std::string descriptor = scene.image({"tar one"});
  scene.set_index(descriptor);
  for (const auto compression : {Compression::kNone, Compression::kGzip, Compression::kZstd}) {
    const ImageSource source = must(ImageSource::open(HostPath(scene.archive(compression))));
    const Image image = must(source.find({}));
    BOOST_TEST(image.digest.text() == LayoutScene::digest_in(descriptor));
    FileRange layer = must(source.open_layer(image.layers[0]));
    BOOST_TEST(must(read_whole(layer, 100)) == "tar one");
  }
}

BOOST_AUTO_TEST_CASE(an_image_is_found_by_text_reference_tag_and_digest) {
  LayoutScene scene;
  const std::string one = scene.image({"1"}, LayoutScene::named("docker.io/library/app:1.0"));
  const std::string two = scene.image({"2"}, LayoutScene::named("2.0"));
  const std::string odd = scene.image({"3"}, LayoutScene::named("Odd Name"));
  scene.set_index(one + "," + two + "," + odd);
  const auto digest = [&](const std::string& reference) {
    return must(scene.find(reference)).digest.text();
  };
  BOOST_TEST(digest("app:1.0") == LayoutScene::digest_in(one));
  BOOST_TEST(digest("docker.io/app:1.0") == LayoutScene::digest_in(one));
  BOOST_TEST(digest("2.0") == LayoutScene::digest_in(two));
  BOOST_TEST(digest("any/app:2.0") == LayoutScene::digest_in(two));
  BOOST_TEST(digest("Odd Name") == LayoutScene::digest_in(odd));
  BOOST_TEST(digest("x@" + LayoutScene::digest_in(two)) == LayoutScene::digest_in(two));
  BOOST_TEST(digest(LayoutScene::digest_in(two)) == LayoutScene::digest_in(two));
  BOOST_TEST(has(layout_error(scene, "app:3.0"), "no image \"app:3.0\", it has \"2.0\""));
  BOOST_TEST(has(layout_error(scene), "several images, one must be named"));
  BOOST_TEST(must(must(ImageSource::open(HostPath(scene.directory()))).list()).size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_whole_reference_counts_more_than_a_tag) {
  LayoutScene scene;
  const std::string tag = scene.image({"1"}, LayoutScene::named("1.0"));
  const std::string whole = scene.image({"2"}, LayoutScene::named("example.org/app:1.0"));
  scene.set_index(tag + "," + whole);
  BOOST_TEST(must(scene.find("example.org/app:1.0")).digest.text() ==
             LayoutScene::digest_in(whole));
}

BOOST_AUTO_TEST_CASE(a_nested_index_gives_the_image_for_this_machine) {
  LayoutScene scene;
  const std::string here = scene.image({"1"}, LayoutScene::platform(Platform::host()));
  const std::string there = scene.image({"2"}, LayoutScene::platform(kOther), kOther);
  const std::string proof =
      scene.image({"3"}, LayoutScene::platform({"unknown", "unknown", ""}), kOther);
  const std::string inner =
      scene.blob(LayoutScene::index(there + "," + proof + "," + here), kIndexType);
  scene.set_index(scene.blob(LayoutScene::index(inner), kIndexType, LayoutScene::named("app")));
  BOOST_TEST(must(scene.find("app")).digest.text() == LayoutScene::digest_in(here));
  BOOST_TEST(must(scene.find()).digest.text() == LayoutScene::digest_in(here));
  // By digest, inside of the index.
  BOOST_TEST(must(scene.find("app@" + LayoutScene::digest_in(here))).digest.text() ==
             LayoutScene::digest_in(here));
}

BOOST_AUTO_TEST_CASE(an_image_for_another_machine_is_refused) {
  LayoutScene scene;
  const std::string there = scene.image({"2"}, LayoutScene::platform(kOther), kOther);
  scene.set_index(there);
  BOOST_TEST(has(layout_error(scene), "it has no image for linux/"));
  scene.set_index(scene.image({"2"}, "", kOther));  // only the configuration tells
  BOOST_TEST(has(layout_error(scene), "it is for \"" + kOther.text()));
}

BOOST_AUTO_TEST_CASE(an_index_that_refers_to_itself_is_an_error) {
  LayoutScene scene;
  // A hash cannot contain itself, so a lie is needed: index B has the name of index A.
  std::string a = scene.blob("{}", kIndexType);
  const std::string name = "blobs/sha256/" + LayoutScene::digest_in(a).substr(7);
  scene.files[name] = LayoutScene::index(a);
  scene.set_index(a);
  BOOST_TEST(has(layout_error(scene), "blob " + LayoutScene::digest_in(a)));
}

BOOST_AUTO_TEST_CASE(indexes_are_nested_at_most_four_deep) {
  LayoutScene scene;
  std::string descriptor = scene.image({"1"});
  for (int depth = 0; depth < 4; ++depth)
    descriptor = scene.blob(LayoutScene::index(descriptor), kIndexType);
  scene.set_index(descriptor);
  must(scene.find());
  scene.set_index(scene.blob(LayoutScene::index(descriptor), kIndexType));
  BOOST_TEST(has(layout_error(scene), "nested more than 4 deep"));
}

BOOST_AUTO_TEST_CASE(a_blob_of_another_size_or_digest_is_an_error) {
  LayoutScene scene;
  const std::string descriptor = scene.image({"1"});
  scene.set_index(descriptor);
  std::string& blob = scene.files["blobs/sha256/" + LayoutScene::digest_in(descriptor).substr(7)];
  const std::string good = blob;
  blob += " ";
  BOOST_TEST(has(layout_error(scene), "its descriptor says"));
  blob = replaced(good, "schemaVersion\":2", "schemaVersion\":3");
  BOOST_TEST(has(layout_error(scene), "changed or damaged"));
  blob = good;
  must(scene.find());
  scene.set_index(replaced(descriptor, "\"size\":", "\"size\":9"));
  BOOST_TEST(has(layout_error(scene), "its descriptor says"));
  scene.set_index(replaced(descriptor, "\"size\":", "\"size\":99999"));
  BOOST_TEST(has(layout_error(scene), "at most 4194304 are read"));
}

BOOST_AUTO_TEST_CASE(a_media_type_must_be_the_same_in_the_blob_and_its_descriptor) {
  LayoutScene scene;
  const std::string config = scene.blob(LayoutScene::config({}), kConfigType);
  const std::string manifest =
      replaced(LayoutScene::manifest(config, ""), "{",
               R"({"mediaType":"application/vnd.docker.distribution.manifest.v2+json",)");
  scene.set_index(scene.blob(manifest, kManifestType));
  BOOST_TEST(has(layout_error(scene), "its descriptor says \"" + std::string(kManifestType)));
  scene.set_index(scene.blob(manifest, "application/vnd.docker.distribution.manifest.v2+json"));
  must(scene.find());
  scene.set_index(scene.blob(manifest, kIndexType));  // an index, says the descriptor
  BOOST_TEST(has(layout_error(scene), "must be a media type of an index"));
}

BOOST_AUTO_TEST_CASE(the_numbers_of_layers_and_diff_ids_must_agree) {
  LayoutScene scene;
  const std::string config = scene.blob(LayoutScene::config({"1", "2"}), kConfigType);
  const std::string layer = scene.blob("1", "application/vnd.oci.image.layer.v1.tar");
  scene.set_index(scene.blob(LayoutScene::manifest(config, layer), kManifestType));
  BOOST_TEST(has(layout_error(scene), "it has 1 layers, its configuration has 2 diff_ids"));
}

BOOST_AUTO_TEST_CASE(a_missing_blob_is_named) {
  LayoutScene scene;
  const std::string descriptor = scene.image({"1"});
  scene.set_index(descriptor);
  scene.files.erase("blobs/sha256/" + LayoutScene::digest_in(descriptor).substr(7));
  BOOST_TEST(has(layout_error(scene), LayoutScene::digest_in(descriptor).substr(7)));
  BOOST_TEST(has(layout_error(scene), "no such file or directory"));
}

BOOST_AUTO_TEST_CASE(what_is_no_image_source_is_refused) {
  LayoutScene scene;
  scene.set_index("");
  BOOST_TEST(has(layout_error(scene, "a\x1b"), "no image \"a\\u001b\", its images have no names"));
  scene.files["oci-layout"] = R"({"imageLayoutVersion":"2.0.0"})";
  BOOST_TEST(has(layout_error(scene), "version \"2.0.0\" is unknown"));
  scene.files.erase("oci-layout");
  BOOST_TEST(has(layout_error(scene), "neither oci-layout"));
  scene.files["version"] = "Directory Transport Version: 1.1\n";
  scene.files["manifest.json"] = R"({"schemaVersion": 2})";
  BOOST_TEST(has(layout_error(scene), "is a directory of skopeo's transport dir:"));
  BOOST_TEST(has(layout_error(scene), "`skopeo copy dir:" + scene.directory() + " oci:DIR:NAME`"));
  BOOST_TEST(has(must_fail(ImageSource::open(HostPath("/nowhere"))), "no such file"));
  const std::string text = scene.scratch().file("text", std::string(2000, 'x'));
  BOOST_TEST(has(must_fail(ImageSource::open(HostPath(text))), "read the tar archive"));
}

BOOST_AUTO_TEST_CASE(symlinks_and_other_kinds_of_files_in_a_directory_are_refused) {
  LayoutScene scene;
  scene.set_index(scene.image({"1"}));
  const std::string top = scene.directory();
  const std::string outside = scene.scratch().file("outside", scene.files["index.json"]);
  std::filesystem::remove(top + "/index.json");
  std::filesystem::create_symlink(outside, top + "/index.json");
  BOOST_TEST(has(must_fail(LayoutScene::find_in(top)), "too many levels of symbolic links"));
  std::filesystem::remove(top + "/index.json");
  BOOST_TEST(::mkfifo((top + "/index.json").c_str(), 0644) == 0);
  BOOST_TEST(has(must_fail(LayoutScene::find_in(top)), "must be a regular file"));
}

BOOST_AUTO_TEST_CASE(an_archive_with_odd_names_is_refused) {
  LayoutScene scene;
  scene.set_index(scene.image({"1"}));
  BOOST_TEST(has(must_fail(LayoutScene::find_in(scene.archive(Compression::kNone, {file("../x")}))),
                 "leads out of the archive"));
  BOOST_TEST(has(
      must_fail(LayoutScene::find_in(scene.archive(Compression::kNone, {file("./index.json")}))),
      "twice"));
}

BOOST_AUTO_TEST_CASE(an_archive_of_docker_save_is_read) {
  LayoutScene scene;
  const std::string config = LayoutScene::config({"tar one", "tar two"});
  const std::string name = digest_of(config).hex() + ".json";
  scene.files = {{name, config},
                 {"one/layer.tar", "tar one"},
                 {"manifest.json", R"([{"Config":")" + name +
                                       R"(","RepoTags":["app:1.0"],"Layers":["one/layer.tar",)"
                                       R"("two/layer.tar"]}])"}};
  // Old versions of docker write a layer once, and a symlink where it occurs again.
  const std::vector<TarItem> more{file("three/layer.tar", "tar two"),
                                  symlink_to("two/layer.tar", "../three/layer.tar")};
  const ImageSource source =
      must(ImageSource::open(HostPath(scene.archive(Compression::kGzip, more))));
  for (const char* reference : {"", "app:1.0", "docker.io/library/app:1.0"}) {
    const Image image = must(source.find({.reference = reference}));
    BOOST_TEST((image.config_id == digest_of(config)));
    FileRange layer = must(source.open_layer(image.layers[1]));
    BOOST_TEST(must(read_whole(layer, 100)) == "tar two");
  }
  BOOST_TEST(must(source.list()).at(0).names == std::vector<std::string>{"app:1.0"});
  BOOST_TEST(has(must_fail(source.find({.reference = "app:2.0"})), "no images \"app:2.0\""));
  must(source.find({.reference = digest_of(config).text()}));

  scene.files[name] += " ";
  BOOST_TEST(has(must_fail(LayoutScene::find_in(scene.archive(Compression::kNone, more))),
                 "changed or damaged"));
}

BOOST_AUTO_TEST_CASE(links_in_an_archive_that_go_round_or_out_are_errors) {
  LayoutScene scene;
  scene.files.clear();
  for (const char* target : {"manifest.json", "../manifest.json", "/etc/passwd", "absent"})
    BOOST_TEST(!LayoutScene::find_in(
                    scene.archive(Compression::kNone, {symlink_to("manifest.json", target)}))
                    .has_value());
}

BOOST_AUTO_TEST_SUITE_END()
