#include <filesystem>

#include "tests/cgroups/container/kernel_fixture.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;
using namespace ocirun::cgroups::test;

namespace {

std::string refused(const Record& record) { return must_fail(open_cgroup(record)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(record)

BOOST_AUTO_TEST_CASE(a_forged_record_is_no_way_to_other_directories) {
  const std::string tmp = "/tmp";
  BOOST_TEST(refused({}).contains("names no cgroup"));
  BOOST_TEST(refused({.path = "/tmp", .directories = {{"cpu", tmp}}, .created_parents = {}})
                 .contains("not in a cgroup filesystem"));
  BOOST_TEST(
      must_fail(freezer_state_of(
                    {.path = "/tmp", .directories = {{"freezer", tmp}}, .created_parents = {}}))
          .contains("not in a cgroup filesystem"));
  BOOST_TEST(must_fail(freezer_state_of({})).contains("names no cgroup"));
  BOOST_TEST(refused({.path = "/a/..", .directories = {{"cpu", "/x/a/.."}}, .created_parents = {}})
                 .contains("is no cgroup's path"));
  BOOST_TEST(refused({.path = "/a", .directories = {{"cpu", "/x/../a"}}, .created_parents = {}})
                 .contains("is no directory of the cgroup"));
  BOOST_TEST(refused({.path = "/a", .directories = {{"cpu", "/x/b"}}, .created_parents = {}})
                 .contains("is no directory of the cgroup"));
  for (const char* parent : {"/home", "/x", "/x/a/b", "/x/a/b/c", "/x/a/..", "/", ""})
    BOOST_TEST(
        refused({.path = "/a/b", .directories = {{"cpu", "/x/a/b"}}, .created_parents = {parent}})
            .contains("is not above its cgroup"),
        parent);
}

BOOST_AUTO_TEST_CASE(a_record_that_names_a_symlink_reaches_no_cgroup,
                     *boost::unit_test::precondition(host_has())) {
  const ocirun::test::Scratch scratch;
  TestCgroup cgroup("aim");
  cgroup.create();
  std::filesystem::create_directory_symlink(cgroup->record().directories.front().second,
                                            scratch / "link");
  const auto forged = must(open_cgroup(
      {.path = "/link", .directories = {{"cpu", scratch / "link"}}, .created_parents = {}}));
  must_fail(forged->pids());
  must_fail(forged->signal_all(0));
  must_fail(forged->destroy());
  BOOST_TEST(cgroup.exists());
}

BOOST_AUTO_TEST_CASE(a_record_of_another_user_must_be_what_the_host_would_give,
                     *boost::unit_test::precondition(host_has())) {
  TestCgroup cgroup("owned/by");
  cgroup.create();
  const Layout layout = host_layout();
  const Record checked = must(check_record(cgroup->record(), layout, Uid()));
  BOOST_TEST((checked.directories == cgroup->record().directories));
  BOOST_TEST(checked.created_parents.empty());
  const Uid somebody = must(Uid::make(4711));
  BOOST_TEST(must_fail(check_record(cgroup->record(), layout, somebody))
                 .ends_with("belongs to user 0, not to 4711"));
  Record elsewhere = cgroup->record();
  elsewhere.created_parents.clear();
  elsewhere.directories.front().second = "/home" + elsewhere.path;
  BOOST_TEST(must_fail(check_record(elsewhere, layout, Uid())).contains("would not put"));
}

BOOST_AUTO_TEST_CASE(of_another_users_record_what_is_missing_is_forgotten,
                     *boost::unit_test::precondition(host_has())) {
  TestCgroup cgroup("half/gone");
  cgroup.create();
  const Record whole = cgroup->record();
  Record some = whole;
  const std::string gone = some.directories.front().second;
  BOOST_REQUIRE(::rmdir(gone.c_str()) == 0);
  some = must(check_record(whole, host_layout(), Uid()));
  BOOST_TEST(some.directories.size() + 1 == whole.directories.size());
  for (const auto& [controllers, directory] : some.directories) BOOST_TEST(directory != gone);
  must(cgroup->destroy());
  BOOST_TEST(must(check_record(whole, host_layout(), Uid())).path.empty());
}

BOOST_AUTO_TEST_SUITE_END()
