// The store as an OCI image layout: what was pulled, under which name, and what prune removes.

#include "pods/images/stored_layout.hpp"

#include <fcntl.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "pods/images/store_locks.hpp"
#include "tests/pods/images/layout_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

/// A store, and a layout on the same filesystem from which images move into it.
struct PulledScene {
  LayoutScene layout;
  Store store = must(Store::open(HostPath(layout.scratch() / "store")));

  /// Keeps an image with a file of that content under a name. Returns the digest of the manifest.
  Digest keep(const std::string& name, const std::string& content) {
    layout.set_index(layout.image({tar_of({file("a", content)}), tar_of({file("b", "same")})}));
    const std::string path = layout.directory();
    const ImageSource source = must(ImageSource::open(HostPath(path)));
    const Image image = must(source.find({}));
    const Descriptor top = must(source.find_manifest({}));
    const UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::vector<Digest> blobs = blobs_of(image, top.digest);
    must(keep_pulled(store, directory, blobs, top, name));
    return image.digest;
  }
  std::string found(const std::string& reference) const {
    const auto source = must(open_pulled(store));
    if (!source) return "nothing was pulled";
    const auto image = source->find({.reference = reference});
    return image ? image->digest.text() : image.error().message();
  }
  std::size_t blobs() const {
    std::size_t count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(layout.scratch() / "store/blobs/sha256"))
      count += entry.is_regular_file() ? 1 : 0;
    return count;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(stored_layout)

BOOST_AUTO_TEST_CASE(an_image_is_found_by_its_name_and_by_its_digest) {
  PulledScene scene;
  BOOST_TEST(scene.found("a.b/web:1") == "nothing was pulled");
  const Digest first = scene.keep("a.b/web:1", "first");
  BOOST_TEST(scene.found("a.b/web:1") == first.text());
  BOOST_TEST(scene.found("a.b/web@" + first.text()) == first.text());
  BOOST_TEST(scene.found("a.b/web:2").contains("no image \"a.b/web:2\""));
  BOOST_TEST(scene.found("1").contains("no image \"1\""));
}

BOOST_AUTO_TEST_CASE(a_moved_name_belongs_to_the_new_image_alone) {
  PulledScene scene;
  const Digest first = scene.keep("a.b/web:1", "first");
  const Digest second = scene.keep("a.b/web:1", "second");
  BOOST_TEST(!(first == second));
  BOOST_TEST(scene.found("a.b/web:1") == second.text());
  BOOST_TEST(scene.found("a.b/web@" + first.text()).contains("no image"));
}

BOOST_AUTO_TEST_CASE(prune_keeps_the_blobs_of_the_given_images_alone) {
  PulledScene scene;
  const Digest first = scene.keep("a.b/web:1", "first");
  const Digest second = scene.keep("a.b/other:1", "second");
  BOOST_TEST(scene.blobs() == 7U);  // they have one layer in common
  must(prune_pulled(scene.store, {second.text()}));
  BOOST_TEST(scene.blobs() == 4U);
  BOOST_TEST(scene.found("a.b/other:1") == second.text());
  BOOST_TEST(scene.found("a.b/web:1").contains("no image"));
  must(prune_pulled(scene.store, {}));
  BOOST_TEST(scene.blobs() == 0U);
}

BOOST_AUTO_TEST_CASE(a_lent_blob_is_taken_back_only_if_it_is_the_stores) {
  PulledScene scene;
  const Digest digest = scene.keep("a.b/web:1", "first");
  const std::string place = scene.layout.scratch() / "place";
  std::filesystem::create_directory(place);
  const UniqueFd directory(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Digest absent = digest_of("absent");
  must(lend_blobs(scene.store, directory, {digest, absent, digest}));
  const std::string lent = place + "/blobs/sha256/" + digest.hex();
  BOOST_TEST(std::filesystem::hard_link_count(lent) == 2U);
  BOOST_TEST(!must(take_back(scene.store, directory, absent)));
  // Another file with the name of the blob.
  std::filesystem::rename(lent, place + "/link");
  std::ofstream(lent) << "damaged";
  const std::size_t before = scene.blobs();
  BOOST_TEST(!must(take_back(scene.store, directory, digest)));
  BOOST_TEST(scene.blobs() == before);
  std::filesystem::rename(place + "/link", lent);
  BOOST_TEST(must(take_back(scene.store, directory, digest)));
  BOOST_TEST(!must(take_back(scene.store, directory, digest)));
}

BOOST_AUTO_TEST_SUITE_END()
