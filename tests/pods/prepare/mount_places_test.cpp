// What a document mounts must fit what is there.

#include "pods/prepare/prepare.hpp"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

struct MountPlaces {
  Scratch scratch;
  Workload workload;
  bundle::Node place;
  Container container;
  BundlePlan plan;
  MountPlaces() {
    for (const char* name : {"root", "root/etc", "root/etc/app", "volume", "volume/sub"})
      ::mkdir((scratch / name).c_str(), 0755);
    scratch.file("root/etc/passwd", "");
    workload.file = "f";
    workload.source = std::make_unique<Source>();
  }
  std::string fault() const {
    const auto checked = check_mount_places(
        workload, container, plan, must(linux::SafeDir::open_root(HostPath(scratch / "root"))));
    return checked ? "" : checked.error().message();
  }
  std::string with_file(const std::string& path) {
    container.config_files = {{.path = path, .value = "v", .parameter = {}, .place = &place}};
    return fault();
  }
  std::string with_mount(const std::string& path) {
    container.mounts.resize(1);
    container.mounts[0].path = path;
    container.mounts[0].place = &place;
    return fault();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(places_of_mounts, MountPlaces)

BOOST_AUTO_TEST_CASE(a_file_over_a_directory_has_its_place) {
  BOOST_TEST(with_file("/etc/passwd") == "");
  BOOST_TEST(with_file("/new/file") == "");
  BOOST_TEST(with_file("/etc/app") ==
             "f: the document: a file cannot take the place of /etc/app, which is a directory of "
             "the image");
  BOOST_TEST(with_file("/etc/passwd/x") ==
             "f: the document: a part of the path /etc/passwd/x is a file of the image");
  BOOST_TEST(
      with_file("/proc/x").starts_with("f: the document: nothing can be mounted at /proc/x"));
}

BOOST_AUTO_TEST_CASE(a_directory_over_a_file_has_its_place) {
  BOOST_TEST(with_mount("/etc/app") == "");
  BOOST_TEST(with_mount("/etc/passwd") ==
             "f: the document: a directory cannot take the place of /etc/passwd, which is a file "
             "of the image");
  container.mounts[0].sub_path = "passwd";
  BOOST_TEST(with_mount("/etc/passwd") == "");
}

BOOST_AUTO_TEST_CASE(a_link_of_the_image_leads_nowhere_else) {
  BOOST_REQUIRE(::symlink("../../../../..", (scratch / "root/up").c_str()) == 0);
  BOOST_TEST(with_file("/up/etc/app").contains("/up/etc/app, which is a directory of the image"));
}

BOOST_AUTO_TEST_CASE(what_a_volume_has_counts_below_it) {
  plan.bound = {{.source = scratch / "volume", .destination = "/etc"}};
  BOOST_TEST(with_file("/etc/app") == "");
  BOOST_TEST(with_file("/etc/sub").contains("which is a directory of the volume"));
  plan.bound[0].read_only = true;
  BOOST_TEST(with_file("/etc/app") ==
             "f: the document: the volume at /etc is read-only, and has no file at /etc/app");
  plan.bound[0].source = scratch / "shown later";
  BOOST_TEST(with_file("/etc/app") == "");
  plan.in_memory = {{.destination = "/etc/sub", .mode = 0755, .most_bytes = {}}};
  BOOST_TEST(with_file("/etc/sub/new") == "");
}

BOOST_AUTO_TEST_CASE(a_volume_that_is_a_file_takes_the_place_of_files) {
  scratch.file("one.conf", "");
  plan.bound = {{.source = scratch / "one.conf", .destination = "/etc/passwd"}};
  BOOST_TEST(with_mount("/etc/passwd") == "");
  plan.bound[0].destination = "/etc/new";
  BOOST_TEST(with_mount("/etc/new") == "");
  BOOST_TEST(with_file("/etc/new/below") ==
             "f: the document: a part of the path /etc/new/below is a file of the volume at "
             "/etc/new");
  plan.bound[0].destination = "/etc/app";
  BOOST_TEST(with_mount("/etc/app") ==
             "f: the document: a file cannot take the place of /etc/app, which is a directory of "
             "the image");
}

BOOST_AUTO_TEST_SUITE_END()
