// Which device a name means: directories, precedence, files that cannot be used.

#include "pods/prepare/devices/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "tests/child_test.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

/// A file whose devices have these names, and whose common variable is FROM=`from`.
std::string devices_named(std::string_view kind, std::vector<std::string> names,
                          std::string_view from = "a") {
  for (std::string& name : names)
    name = fmt::format(R"({{"name": "{}", "containerEdits": {{"env": ["N={}"]}}}})", name, name);
  return fmt::format(
      R"({{"cdiVersion": "0.6.0", "kind": "{}", "containerEdits": {{"env": ["FROM={}"]}}, "devices": [{}]}})",
      kind, from, fmt::join(names, ","));
}

struct RegistryScene {
  Scratch scratch;
  DeviceDirectories directories;
  RegistryScene() {
    for (const char* name : {"etc", "run"}) ::mkdir((scratch / name).c_str(), 0755);
    directories.paths = {scratch / "etc", scratch / "run", scratch / "absent"};
  }
  DeviceRegistry registry() const { return must(DeviceRegistry::read(directories)); }
  std::string from(std::string_view kind, std::string_view name) const {
    const DeviceRegistry all = registry();
    return must(all.find(std::string(kind), std::string(name))).spec->edits.env.at(0);
  }
  std::string missing(std::string_view kind, std::string_view name) const {
    const DeviceRegistry all = registry();
    return must_fail(all.find(std::string(kind), std::string(name)));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cdi_registry, RegistryScene)

BOOST_AUTO_TEST_CASE(a_later_directory_takes_precedence_device_by_device) {
  scratch.file("etc/a.json", devices_named("v.com/gpu", {"0", "1"}, "etc"));
  scratch.file("run/b.yaml", devices_named("v.com/gpu", {"1"}, "run"));
  BOOST_TEST(from("v.com/gpu", "0") == "FROM=etc");
  BOOST_TEST(from("v.com/gpu", "1") == "FROM=run");
  BOOST_TEST((must(registry().names("v.com/gpu")) == std::vector<std::string>{"0", "1"}));
}

BOOST_AUTO_TEST_CASE(two_files_of_one_directory_conflict_for_that_device_alone) {
  scratch.file("etc/a.json", devices_named("v.com/gpu", {"0", "1"}, "a"));
  scratch.file("etc/b.json", devices_named("v.com/gpu", {"1", "2"}, "b"));
  BOOST_TEST((from("v.com/gpu", "0") == "FROM=a" && from("v.com/gpu", "2") == "FROM=b"));
  BOOST_TEST(missing("v.com/gpu", "1") ==
             fmt::format("both {0}/etc/a.json and {0}/etc/b.json describe the device v.com/gpu=1",
                         scratch.path()));
  scratch.file("run/c.json", devices_named("v.com/gpu", {"1"}, "c"));
  BOOST_TEST(from("v.com/gpu", "1") == "FROM=c");
}

BOOST_AUTO_TEST_CASE(errors_list_what_there_is) {
  BOOST_TEST(missing("v.com/gpu", "0").ends_with("has devices of the kind v.com/gpu"));
  scratch.file("etc/a.json", devices_named("v.com/nic", {"10", "2"}));
  BOOST_TEST(
      missing("v.com/gpu", "0").ends_with("devices of the kind v.com/gpu (there are v.com/nic)"));
  BOOST_TEST(missing("v.com/nic", "7") == "v.com/nic has no device \"7\": its devices are 2, 10");
  BOOST_TEST((registry().kinds_of_class("nic") == std::vector<std::string>{"v.com/nic"}));
  BOOST_TEST(registry().kinds_of_class("gpu").empty());
}

BOOST_AUTO_TEST_CASE(a_broken_file_disturbs_only_its_own_kind) {
  scratch.file("etc/a.json", devices_named("v.com/gpu", {"0"}, "etc"));
  scratch.file("etc/b.json", R"({"cdiVersion": "0.6.0", "kind": "w.com/gpu", "devices": []})");
  scratch.file("etc/c.yaml", "kind: [");
  scratch.file("etc/d.txt", "no specification");
  scratch.file("etc/.tmp", "no specification");
  BOOST_TEST(from("v.com/gpu", "0") == "FROM=etc");
  BOOST_TEST(registry().broken().size() == 2U);
  BOOST_TEST(missing("w.com/gpu", "0").contains("/devices: must have a device"));
  BOOST_TEST(missing("x.com/gpu", "0").contains("; a file that cannot be used: "));
  scratch.file("run/e.json", R"({"cdiVersion": "0.6.0", "kind": "v.com/gpu", "devices": 1})");
  BOOST_TEST(
      missing("v.com/gpu", "0").starts_with("a CDI specification of the kind v.com/gpu cannot"));
}

BOOST_AUTO_TEST_CASE(only_regular_files_that_others_cannot_write_are_read) {
  const std::string text = devices_named("v.com/gpu", {"0"});
  const std::string file = scratch.file("etc/a.json", text, 0666);
  BOOST_TEST(missing("v.com/gpu", "0").contains("its mode 0666 lets others write: chmod go-w"));
  ::chmod(file.c_str(), 0664);
  BOOST_TEST(missing("v.com/gpu", "0").contains("lets others write"));
  ::unlink(file.c_str());
  BOOST_REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  BOOST_TEST(missing("v.com/gpu", "0").contains("a.json: it is no regular file"));
  ::unlink(file.c_str());
  scratch.file("etc/big.json", std::string((std::size_t{4} << 20) + 1, ' '));
  BOOST_TEST(missing("v.com/gpu", "0").contains("big.json: "));
  ::unlink((scratch / "etc/big.json").c_str());
  ::chmod((scratch / "etc").c_str(), 0777);
  BOOST_TEST(
      must_fail(DeviceRegistry::read(directories)).contains("its mode 0777 lets others write"));
}

BOOST_AUTO_TEST_CASE(a_file_of_another_user_is_not_for_root) {
  if (::geteuid() != 0) return;
  const std::string file = scratch.file("etc/a.json", devices_named("v.com/gpu", {"0"}));
  BOOST_REQUIRE(::chown(file.c_str(), 7, 7) == 0);
  BOOST_TEST(missing("v.com/gpu", "0").contains("it belongs to user 7: it must belong to root"));
}

BOOST_AUTO_TEST_CASE(a_directory_of_the_operator_must_exist) {
  directories.may_be_absent = false;
  BOOST_TEST(must_fail(DeviceRegistry::read(directories)).contains("/absent: "));
}

BOOST_AUTO_TEST_CASE(a_directory_or_symlink_on_the_way_of_an_ordinary_user_is_refused,
                     *needs_root()) {
  scratch.file("etc/a.json", devices_named("v.com/gpu", {"0"}));
  ::mkdir((scratch / "users").c_str(), 0755);
  ::mkdir((scratch / "users/cdi").c_str(), 0755);
  scratch.file("users/cdi/b.json", devices_named("v.com/gpu", {"1"}));
  directories.paths = {scratch / "users/cdi"};
  BOOST_TEST(DeviceRegistry::read(directories).has_value());
  BOOST_REQUIRE(::chown((scratch / "users").c_str(), 7, 7) == 0);
  BOOST_TEST(
      must_fail(DeviceRegistry::read(directories))
          .contains("the directory users on the way belongs to user 7: it must belong to root"));
  BOOST_REQUIRE(::symlink((scratch / "users/cdi").c_str(), (scratch / "way").c_str()) == 0);
  directories.paths = {scratch / "way"};
  BOOST_TEST(
      must_fail(DeviceRegistry::read(directories)).contains("the directory users on the way"));
  BOOST_REQUIRE(::chown((scratch / "users").c_str(), 0, 0) == 0);
  BOOST_REQUIRE(::lchown((scratch / "way").c_str(), 7, 7) == 0);
  BOOST_TEST(
      must_fail(DeviceRegistry::read(directories)).contains("the symlink way on the way belongs"));
  ::chmod((scratch / "users").c_str(), 0775);
  directories.paths = {scratch / "users/cdi"};
  BOOST_TEST(
      must_fail(DeviceRegistry::read(directories)).contains("mode 0775, which lets others write"));
  ::chmod((scratch / "users").c_str(), 01777);
  BOOST_TEST(DeviceRegistry::read(directories).has_value());
  // A file of a directory may be a symlink of its vendor's.
  BOOST_REQUIRE(
      ::symlink((scratch / "users/cdi/b.json").c_str(), (scratch / "etc/b.json").c_str()) == 0);
  directories.paths = {scratch / "etc"};
  BOOST_TEST(from("v.com/gpu", "1") == "FROM=a");
  ::unlink((scratch / "etc/a.json").c_str());
  ::chmod((scratch / "users").c_str(), 0755);
  BOOST_REQUIRE(::chown((scratch / "users").c_str(), 7, 7) == 0);
  BOOST_TEST(
      missing("v.com/gpu", "1").contains("the directory users on the way belongs to user 7"));
}

BOOST_AUTO_TEST_SUITE_END()
