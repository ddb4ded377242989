// The container of an ordinary user may change the permissions of its cgroup, and so lock its owner
// out.

#include <sys/stat.h>

#include "cgroups/container/kill.hpp"
#include "tests/cgroups/container/kernel_fixture.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;
using namespace ocirun::cgroups::test;

BOOST_AUTO_TEST_SUITE(permissions)

BOOST_AUTO_TEST_CASE(a_cgroup_that_its_owner_may_not_enter_is_looked_into_and_removed,
                     *boost::unit_test::precondition(host_has())) {
  TestCgroup cgroup("closed");
  cgroup.create();
  const std::string top = cgroup->record().directories.front().second;
  BOOST_REQUIRE(::chown(top.c_str(), 4711, 4711) == 0);
  const int status = ocirun::test::run_in_child(0, [&] {
    BOOST_REQUIRE(::setresuid(4711, 4711, 4711) == 0);
    for (const std::string& below : {top + "/below", top + "/below/it"})
      BOOST_REQUIRE(::mkdir(below.c_str(), 0755) == 0);
    for (const std::string& closed :
         {top + "/below/it/cgroup.procs", top + "/below/it", top + "/below", top})
      BOOST_REQUIRE(::chmod(closed.c_str(), 0) == 0);
    BOOST_TEST(must(pids_below(top)).empty());
    BOOST_TEST(must(Directory::open(top)).read("cgroup.procs").has_value());
    BOOST_REQUIRE(::chmod(top.c_str(), 0) == 0);
    must(walk(top, [&](const WalkEntry& entry) {
      return entry.name == top ? Result<void>{} : remove_entry(entry);
    }));
    BOOST_TEST(::access((top + "/below").c_str(), F_OK) != 0);
  });
  BOOST_TEST(status == 0);
}

// The container chooses the names of its nested cgroups; the caller's working directory may contain
// the same name.
BOOST_AUTO_TEST_CASE(nothing_of_that_name_elsewhere_is_touched,
                     *boost::unit_test::precondition(host_has())) {
  TestCgroup cgroup("named");
  cgroup.create();
  const std::string top = cgroup->record().directories.front().second;
  BOOST_REQUIRE(::chown(top.c_str(), 4711, 4711) == 0);
  const ocirun::test::Scratch home;
  BOOST_REQUIRE(::chmod(home.path().c_str(), 0755) == 0);
  const std::string secret = home.path() + "/private";
  BOOST_REQUIRE(::mkdir(secret.c_str(), 0700) == 0 && ::chown(secret.c_str(), 4711, 4711) == 0);
  const int status = ocirun::test::run_in_child(0, [&] {
    BOOST_REQUIRE(::chdir(home.path().c_str()) == 0);
    BOOST_REQUIRE(::setresuid(4711, 4711, 4711) == 0);
    const std::string below = top + "/private";
    BOOST_REQUIRE(::mkdir(below.c_str(), 0755) == 0);
    int seen = 0;
    must(walk(top, [&](const WalkEntry& entry) -> Result<void> {
      if (entry.name != "private") return {};
      ++seen;
      BOOST_REQUIRE(::chmod((below + "/cgroup.procs").c_str(), 0) == 0);
      BOOST_REQUIRE(::chmod(below.c_str(), 0) == 0);
      BOOST_TEST(must(must(Directory::open_entry(entry)).mark()).text.empty());
      BOOST_TEST(must(read_in(entry, "cgroup.procs")).empty());
      return {};
    }));
    BOOST_TEST(seen == 1);
  });
  BOOST_TEST(status == 0);
  struct stat found{};
  BOOST_REQUIRE(::stat(secret.c_str(), &found) == 0);
  BOOST_TEST((found.st_mode & 07777) == 0700U);
  BOOST_REQUIRE(::rmdir((top + "/private").c_str()) == 0);
}

BOOST_AUTO_TEST_CASE(what_belongs_to_somebody_else_keeps_its_permissions,
                     *boost::unit_test::precondition(host_has())) {
  TestCgroup cgroup("foreign");
  cgroup.create();
  const std::string top = cgroup->record().directories.front().second;
  BOOST_REQUIRE(::chmod(top.c_str(), 0700) == 0);
  const int status = ocirun::test::run_in_child(0, [&] {
    BOOST_REQUIRE(::setresuid(4711, 4711, 4711) == 0);
    BOOST_TEST(must_fail(pids_below(top)).ends_with("permission denied"));
  });
  BOOST_TEST(status == 0);
  struct stat found{};
  BOOST_REQUIRE(::stat(top.c_str(), &found) == 0);
  BOOST_TEST((found.st_mode & 07777) == 0700U);
}

BOOST_AUTO_TEST_SUITE_END()
