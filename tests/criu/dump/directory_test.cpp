#include "criu/dump/directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(images)

BOOST_AUTO_TEST_CASE(a_missing_directory_is_made_for_its_owner_alone) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/images";
  must(open_or_make_directory(HostPath(path + "//"), "--image-path"));
  struct stat status{};
  BOOST_REQUIRE(::stat(path.c_str(), &status) == 0);
  BOOST_TEST((status.st_mode & 07777U) == 0700U);
}

BOOST_AUTO_TEST_CASE(a_symlink_and_a_directory_that_others_may_write_to_are_refused) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/images";
  must(open_or_make_directory(HostPath(path), "--image-path"));
  BOOST_REQUIRE(::symlink("images", (scratch.path() + "/link").c_str()) == 0);
  BOOST_TEST(!open_or_make_directory(HostPath(scratch.path() + "/link"), "--image-path"));
  BOOST_TEST(open_images(HostPath(path), TrustImages::kNo).has_value());
  BOOST_REQUIRE(::chmod(path.c_str(), 0777) == 0);
  BOOST_TEST(!open_images(HostPath(path), TrustImages::kNo));
  BOOST_TEST(open_images(HostPath(path), TrustImages::kYes).has_value());
  BOOST_TEST(!open_or_make_directory(HostPath(path), "--work-path"));
}

BOOST_AUTO_TEST_CASE(each_image_is_a_regular_file_that_others_cannot_write_to) {
  const Scratch scratch;
  const HostPath path(scratch.path() + "/images");
  must(open_or_make_directory(path, "--image-path"));
  const std::string image = scratch.file("images/core-1.img", "x", 0600);
  BOOST_TEST(open_images(path, TrustImages::kNo).has_value());
  BOOST_REQUIRE(::chmod(image.c_str(), 0620) == 0);
  BOOST_TEST(!open_images(path, TrustImages::kNo));
  BOOST_TEST(open_images(path, TrustImages::kYes).has_value());
  BOOST_REQUIRE(::chmod(image.c_str(), 0600) == 0);
  BOOST_REQUIRE(::symlink("core-1.img", (path.string() + "/core-2.img").c_str()) == 0);
  BOOST_TEST(!open_images(path, TrustImages::kNo));
}

BOOST_AUTO_TEST_CASE(the_images_of_pre_dumps_are_checked_too) {
  const Scratch scratch;
  const HostPath first(scratch.path() + "/one");
  const HostPath second(scratch.path() + "/two");
  must(open_or_make_directory(first, "--image-path"));
  must(open_or_make_directory(second, "--image-path"));
  BOOST_REQUIRE(::symlink("../one", (second.string() + "/parent").c_str()) == 0);
  BOOST_TEST(open_images(second, TrustImages::kNo).has_value());
  BOOST_REQUIRE(::chmod(first.c_str(), 0777) == 0);
  BOOST_TEST(!open_images(second, TrustImages::kNo));
  BOOST_REQUIRE(::chmod(first.c_str(), 0700) == 0);
  BOOST_REQUIRE(::symlink("../two", (first.string() + "/parent").c_str()) == 0);  // a circle
  BOOST_TEST(!open_images(second, TrustImages::kNo));
}

BOOST_AUTO_TEST_CASE(the_images_are_in_the_directory_and_in_those_of_its_pre_dumps) {
  const Scratch scratch;
  const HostPath first(scratch.path() + "/one");
  const HostPath second(scratch.path() + "/two");
  const auto older = must(open_or_make_directory(first, "--image-path"));
  const auto newer = must(open_or_make_directory(second, "--image-path"));
  BOOST_TEST((must(paths_of_images(older)) == std::vector{first}));
  BOOST_REQUIRE(::symlink("../one", (second.string() + "/parent").c_str()) == 0);
  BOOST_TEST((must(paths_of_images(newer)) == std::vector{second, first}));
  const HostPath third(scratch.path() + "/three");
  const auto newest = must(open_or_make_directory(third, "--image-path"));
  BOOST_REQUIRE(::symlink("../two", (third.string() + "/parent").c_str()) == 0);
  BOOST_TEST((must(paths_of_images(newest)) == std::vector{third, second, first}));
  BOOST_REQUIRE(::rename(first.c_str(), (scratch.path() + "/gone").c_str()) == 0);
  BOOST_TEST((must(paths_of_images(older)) == std::vector{HostPath(scratch.path() + "/gone")}));
  BOOST_TEST(
      must_fail(paths_of_images(newest))
          .contains(
              "the images of the pre-dump, to which the link named parent leads, are missing"));
}

BOOST_AUTO_TEST_CASE(a_link_to_a_file_and_links_in_a_circle_have_no_paths) {
  const Scratch scratch;
  const HostPath path(scratch.path() + "/images");
  const auto images = must(open_or_make_directory(path, "--image-path"));
  scratch.file("file", "x");
  BOOST_REQUIRE(::symlink("../file", (path.string() + "/parent").c_str()) == 0);
  const auto paths = paths_of_images(images);
  BOOST_REQUIRE(!paths);
  BOOST_TEST(paths.error().number() == ENOTDIR);
  BOOST_REQUIRE(::unlink((path.string() + "/parent").c_str()) == 0);
  BOOST_REQUIRE(::symlink(".", (path.string() + "/parent").c_str()) == 0);
  BOOST_TEST(must_fail(paths_of_images(images)).contains("more than 1000 directories"));
}

BOOST_AUTO_TEST_CASE(a_parent_path_is_relative_to_the_images) {
  const Scratch scratch;
  const auto first =
      must(open_or_make_directory(HostPath(scratch.path() + "/one"), "--image-path"));
  const auto second =
      must(open_or_make_directory(HostPath(scratch.path() + "/two"), "--image-path"));
  BOOST_TEST(check_parent_path(second, "../one").has_value());
  BOOST_TEST(!check_parent_path(second, scratch.path() + "/one"));
  BOOST_TEST(!check_parent_path(second, "../three"));
}

BOOST_AUTO_TEST_SUITE_END()
