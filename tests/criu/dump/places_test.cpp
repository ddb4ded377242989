#include "criu/dump/places.hpp"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/linux/mounts/scene.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kRoot = 1, kVolume = 2, kMemory = 3;

/// The images of a container with a root file system, a volume on /data, and a tmpfs on /dev/shm.
struct Container {
  Container() {
    for (const char* directory : {"rootfs/etc", "rootfs/dev/shm", "rootfs/data", "volume/below"})
      fs::create_directories(path(directory));
    fs::create_directory_symlink("/proc/1/root", path("rootfs/etc/link"));
    fs::create_directory_symlink("/proc/1/root", path("volume/link"));
    fs::create_directory_symlink("/proc/1/root", path("rootfs/data/hidden"));
    config.root_path = HostPath(path("rootfs"));
    linux::Mount bind;
    bind.destination = RootfsPath("/data/");
    bind.source = path("volume");
    bind.bind = true;
    config.mounts.push_back(std::move(bind));
    ImageMount root = mount(kRoot, 0, "/");
    root.is_containers_root = true;
    ImageMount volume = mount(kVolume, kRoot, "/data");
    volume.external = "/data";
    mounts = {root, volume, mount(kMemory, kRoot, "/dev/shm")};
  }
  static ImageMount mount(std::int64_t id, std::int64_t parent, const std::string& point) {
    return {.id = static_cast<std::uint32_t>(id),
            .parent = static_cast<std::uint32_t>(parent),
            .point = point,
            .root = "/",
            .type = "tmpfs"};
  }
  std::string path(const std::string& name) const { return scratch.path() + "/" + name; }
  /// The error; "" for none.
  std::string refusal(const std::string& file, std::int64_t mount_id) const {
    const auto checked = ImagePlaces(mounts, config).check_file(file, mount_id);
    return checked ? "" : checked.error().message();
  }
  std::string refusal_of_point(const ImageMount& mount) const {
    const auto checked = ImagePlaces(mounts, config).check_point(mount);
    return checked ? "" : checked.error().message();
  }

  Scratch scratch;
  bundle::Config config;
  std::vector<ImageMount> mounts;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(places)

BOOST_AUTO_TEST_CASE(files_below_real_directories_may_be_made) {
  const Container container;
  BOOST_TEST(container.refusal("/gone", kRoot) == "");
  BOOST_TEST(container.refusal("/etc/gone", kRoot) == "");
  BOOST_TEST(container.refusal("/missing/below/gone", kRoot) == "");
  BOOST_TEST(container.refusal("/data/gone", kVolume) == "");
  BOOST_TEST(container.refusal("/data/below/gone", kVolume) == "");
  BOOST_TEST(container.refusal("/dev/shm/gone", kMemory) == "");
}

BOOST_AUTO_TEST_CASE(no_symlink_is_a_part_of_the_path) {
  const Container container;
  check_text(
      container.refusal("/etc/link/gone", kRoot),
      "criu would make or remove the file \"/etc/link/gone\": a symlink is a part of the path");
  check_text(container.refusal("/etc/link/tmp/gone", kRoot), "a symlink");
  check_text(container.refusal("/data/link/gone", kVolume), "a symlink");
}

BOOST_AUTO_TEST_CASE(a_path_is_plain) {
  const Container container;
  for (const char* path : {"etc/gone", "", "/etc/../gone", "/..", "x../../../gone"})
    check_text(container.refusal(path, kRoot), "the path is not plain");
}

BOOST_AUTO_TEST_CASE(a_file_lies_in_its_mount) {
  const Container container;
  check_text(container.refusal("/etc/gone", kVolume), "does not lie in the mount 2");
  check_text(container.refusal("/etc/gone", 9), "does not lie in the mount 9");
  check_text(container.refusal("/etc/gone", -1), "does not lie in the mount -1");
  check_text(container.refusal("/data", kVolume), "does not lie in the mount 2");
  check_text(container.refusal("/", kRoot), "does not lie in the mount 1");
  check_text(container.refusal("/data/below/gone", kRoot), "another mount of the images");
  check_text(container.refusal("/dev/shm/gone", kRoot), "another mount of the images");
}

BOOST_AUTO_TEST_CASE(the_content_of_a_new_file_system_is_not_known) {
  const Container container;
  check_text(container.refusal("/dev/shm/below/gone", kMemory), "at the top of the file system");
}

BOOST_AUTO_TEST_CASE(a_bind_that_the_document_does_not_have_is_not_known) {
  Container container;
  container.config.mounts.clear();
  BOOST_TEST(container.refusal("/data/gone", kVolume) == "");
  check_text(container.refusal("/data/below/gone", kVolume), "at the top of the file system");
}

BOOST_AUTO_TEST_CASE(a_missing_source_of_a_bind_is_an_error) {
  Container container;
  container.config.mounts[0].source = container.path("none");
  check_text(container.refusal("/data/below/gone", kVolume), "/none");
}

BOOST_AUTO_TEST_CASE(no_symlink_is_a_part_of_a_mount_point) {
  const Container container;
  for (const ImageMount& mount : container.mounts)
    BOOST_TEST(container.refusal_of_point(mount) == "");
  check_text(container.refusal_of_point(Container::mount(7, kRoot, "/etc/link")),
             "criu would mount on \"/etc/link\": a symlink is a part of the path");
  check_text(container.refusal_of_point(Container::mount(7, kRoot, "/etc/link/tmp")), "a symlink");
  check_text(container.refusal_of_point(Container::mount(7, kVolume, "/data/link")), "a symlink");
  BOOST_TEST(container.refusal_of_point(Container::mount(7, kVolume, "/data/hidden")) == "");
  BOOST_TEST(container.refusal_of_point(Container::mount(7, kMemory, "/dev/shm/x")) == "");
  BOOST_TEST(container.refusal_of_point(Container::mount(7, 99, "/etc/link")) == "");
}

BOOST_AUTO_TEST_SUITE_END()
