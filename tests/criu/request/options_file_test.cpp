// Which file of options criu may get: none that a container could write.

#include "criu/request/options_file.hpp"

#include <linux/mount.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;
namespace fs = std::filesystem;

namespace {

struct FileScene {
  FileScene() {
    fs::create_directories(scratch / "rootfs/etc");
    fs::create_directories(scratch / "volume");
    for (const char* name : {"rootfs/etc/criu.conf", "volume/criu.conf", "criu.conf"}) {
      std::ofstream(scratch / name) << "tcp-established\n";
      fs::permissions(scratch / name, fs::perms{0644});
    }
    fs::create_symlink(scratch / "rootfs", scratch / "link");
    config.root_path = HostPath(scratch / "link");
  }

  void bind(std::uint64_t attributes) {
    linux::Mount mount;
    mount.bind = true;
    mount.source = scratch / "volume";
    mount.attributes.set = attributes;
    config.mounts = {mount};
  }
  std::string outcome(const std::string& path) {
    config.annotations["org.criu.config"] = path;
    const auto file = config_file_of(config);
    return file ? *file : file.error().message();
  }
  std::string outcome_below(const char* name) { return outcome(scratch / name); }

  Scratch scratch;
  bundle::Config config;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(options_file, FileScene)

BOOST_AUTO_TEST_CASE(a_file_of_the_host_is_taken_and_an_empty_name_is_none) {
  BOOST_TEST(outcome_below("criu.conf") == scratch / "criu.conf");
  BOOST_TEST(outcome("") == "");
}

BOOST_AUTO_TEST_CASE(a_file_of_the_container_is_refused_by_whichever_path) {
  for (const char* name :
       {"rootfs/etc/criu.conf", "link/etc/criu.conf", "x/../rootfs/etc/criu.conf"}) {
    fs::create_directories(scratch / "x");
    const std::string said = outcome_below(name);
    BOOST_TEST(said.starts_with("/annotations/org.criu.config: "), said);
    BOOST_TEST(said.contains("it is a file of the container"), said);
  }
}

BOOST_AUTO_TEST_CASE(a_link_of_proc_is_not_followed) {
  BOOST_TEST(outcome("/proc/self/root" + scratch / "criu.conf")
                 .contains("too many levels of symbolic links"));
}

BOOST_AUTO_TEST_CASE(a_file_of_a_volume_is_refused_if_the_container_may_write_to_it) {
  bind(0);
  BOOST_TEST(outcome_below("volume/criu.conf").contains("to which the container may write"));
  bind(MOUNT_ATTR_RDONLY);
  BOOST_TEST(outcome_below("volume/criu.conf") == scratch / "volume/criu.conf");
}

BOOST_AUTO_TEST_CASE(a_file_that_others_may_write_or_that_is_none_is_refused) {
  fs::permissions(scratch / "criu.conf", fs::perms{0666});
  BOOST_TEST(outcome_below("criu.conf").contains("its mode 0666 lets others write"));
  BOOST_TEST(outcome_below("volume").contains("it is no regular file"));
  BOOST_TEST(outcome_below("absent").contains("no such file or directory"));
}

BOOST_AUTO_TEST_CASE(a_path_that_is_not_absolute_counts_as_no_annotation) {
  const bool has_file_of_engines = fs::exists("/etc/criu/runc.conf");
  BOOST_TEST(outcome("criu.conf") == (has_file_of_engines ? "/etc/criu/runc.conf" : ""));
}

BOOST_AUTO_TEST_SUITE_END()
