#include "criu/dump/check.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/linux/mounts/scene.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

constexpr const char* kTrust = "criu could harm the host with these images (--trust-images";

Obstacles obstacles_of(const Images& images, SavedCgroups cgroups = SavedCgroups::kMade) {
  Obstacles found;
  must(check_images(images, bundle::Config(), cgroups, found));
  return found;
}
Images with_a_strange_cgroup() {
  Images images;
  images.cgroups.push_back({.hierarchies = {{.tops = {{.path = "beside"}}}}, .members = {}});
  return images;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(check)

BOOST_AUTO_TEST_CASE(images_that_do_nothing_to_the_host_pass) {
  BOOST_TEST(obstacles_of(Images()).empty());
}

BOOST_AUTO_TEST_CASE(images_that_would_change_the_host_may_be_trusted) {
  Images images;
  images.has_apparmor_policies = true;
  const Obstacles found = obstacles_of(images);
  BOOST_REQUIRE_EQUAL(found.size(), 1U);
  check_text(found.front(), kTrust);
}

BOOST_AUTO_TEST_CASE(all_reasons_are_told) {
  Images images = with_a_strange_cgroup();
  images.has_apparmor_policies = true;
  const Obstacles found = obstacles_of(images);
  BOOST_REQUIRE_EQUAL(found.size(), 2U);
  for (const std::string& one : found) check_text(one, kTrust);
}

BOOST_AUTO_TEST_CASE(cgroups_that_criu_does_not_make_are_not_looked_at) {
  BOOST_TEST(obstacles_of(with_a_strange_cgroup()).size() == 1U);
  BOOST_TEST(obstacles_of(with_a_strange_cgroup(), SavedCgroups::kIgnored).empty());
}

BOOST_AUTO_TEST_SUITE_END()
