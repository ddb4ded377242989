#include "runtime/images/check.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/linux/mounts/scene.hpp"
#include "tests/must.hpp"
#include "tests/runtime/images/image_text.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

constexpr const char* kTrust = "criu could harm the host with these images (--trust-images";
constexpr const char* kCopy = "the images are incomplete or damaged (copy them again";

/// Images without a process.
struct Images {
  Images() { scratch.file("files.img", image(ImageKind::kFiles, {}), 0600); }

  Obstacles obstacles(bool has_cgroups = true) const {
    const UniqueFd directory = scratch.open();
    Obstacles found;
    check_images({.directory = directory,
                  .inventory = inventory,
                  .config = config,
                  .has_cgroups = has_cgroups},
                 found);
    return found;
  }
  std::string obstacle() const {
    const Obstacles found = obstacles();
    BOOST_REQUIRE_EQUAL(found.size(), 1U);
    return found.front();
  }
  void forge(const std::string& name, ImageKind kind, const std::string& entry) const {
    scratch.file(name, image(kind, {entry}), 0600);
  }

  ImageInventory inventory;
  bundle::Config config;
  Scratch scratch;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(image_checks)

BOOST_AUTO_TEST_CASE(images_that_do_nothing_to_the_host_pass) {
  BOOST_TEST(Images().obstacles().empty());
}

BOOST_AUTO_TEST_CASE(images_that_would_change_the_host_may_be_trusted) {
  const Images images;
  images.forge("apparmor.img", ImageKind::kAppArmor, text(1, text(1, "..")));
  check_text(images.obstacle(), kTrust);
}

BOOST_AUTO_TEST_CASE(damaged_images_have_to_be_copied_again) {
  const Images images;
  images.scratch.file("apparmor.img", "no image", 0600);
  check_text(images.obstacle(), kCopy);
}

BOOST_AUTO_TEST_CASE(all_reasons_are_told) {
  const Images images;
  images.forge("apparmor.img", ImageKind::kAppArmor, text(1, text(1, "..")));
  images.scratch.file("cgroup.img", "no image", 0600);
  const Obstacles found = images.obstacles();
  BOOST_REQUIRE_EQUAL(found.size(), 2U);
  check_text(found[0], kTrust);
  check_text(found[1], kCopy);
  BOOST_TEST(images.obstacles(false).size() == 1U);  // without the cgroups
}

BOOST_AUTO_TEST_SUITE_END()
