#include <sys/stat.h>
#include <sys/xattr.h>

#include <filesystem>

#include "cgroups/container/record.hpp"
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
  elsewhere.handed_down.clear();
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

namespace {

std::vector<Marked> marks(std::string_view beginning) {
  const linux::Procfs procfs = must(linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  return must(find_marks(procfs, host_layout(), beginning));
}

bool has(const std::string& directory, const char* attribute) {
  return ::getxattr(directory.c_str(), attribute, nullptr, 0) > 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mark)

BOOST_AUTO_TEST_CASE(a_marked_cgroup_is_found_by_how_its_mark_begins,
                     *boost::unit_test::precondition(host_has())) {
  TestCgroup one("deep/below/one"), two("two");
  one.create();
  two.create();
  BOOST_TEST(must(read_mark(one->record())).text.empty());
  const std::string mine = "a-test's " + std::to_string(::getpid());
  must(write_mark(one->record(), mine + " one"));
  must(write_mark(two->record(), mine + " two"));
  BOOST_TEST(must(read_mark(one->record())).text == mine + " one");
  const auto found = marks(mine + " o");
  BOOST_TEST_REQUIRE(found.size() == 1U);
  BOOST_TEST(found[0].path == one->record().path);
  BOOST_TEST(found[0].mark.text == mine + " one");
  BOOST_TEST(found[0].mark.written_by_root);
  BOOST_TEST(marks(mine).size() == 2U);
  BOOST_TEST(marks(mine + " three").empty());
  must(write_mark(one->record(), "another's"));
  BOOST_TEST(marks(mine).size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_cgroup_that_is_not_there_has_no_mark,
                     *boost::unit_test::precondition(host_has())) {
  const TestCgroup cgroup("nowhere");
  BOOST_TEST(must(read_mark(cgroup->record())).text.empty());
  BOOST_TEST(must(read_mark(Record{})).text.empty());
  BOOST_TEST(!write_mark(cgroup->record(), "text").has_value());
}

BOOST_AUTO_TEST_CASE(a_mark_longer_than_the_kernel_takes_is_an_error,
                     *boost::unit_test::precondition(host_has())) {
  TestCgroup cgroup("long");
  cgroup.create();
  must(write_mark(cgroup->record(), std::string(60'000, 'x')));
  BOOST_TEST(must(read_mark(cgroup->record())).text.size() == 60'000U);
  BOOST_TEST(!write_mark(cgroup->record(), std::string(70'000, 'x')).has_value());
}

BOOST_AUTO_TEST_CASE(
    what_another_container_has_left_is_made_anew_and_what_somebody_else_made_is_not,
    *boost::unit_test::precondition(host_has("unified", "pids"))) {
  for (const bool marked : {true, false}) {
    TestCgroup first("again"), second("again");
    first.create();
    Resources resources;
    resources.pids_limit = 17;
    must(first->apply(resources));
    BOOST_REQUIRE(::mkdir((first.directory("pids").path() + "/below").c_str(), 0755) == 0);
    if (marked) must(write_mark(first->record(), "first"));
    second.create();
    BOOST_TEST(second.read("pids", "pids.max") == (marked ? "max" : "17"));
    BOOST_TEST(must(read_mark(second->record())).text.empty());
  }
}

BOOST_AUTO_TEST_CASE(a_mark_is_found_in_every_hierarchy,
                     *boost::unit_test::precondition(host_has("unified", "pids"))) {
  TestCgroup cgroup("every");
  cgroup.create();
  const std::string mine = "every " + std::to_string(::getpid());
  Record other = cgroup->record();
  std::ranges::reverse(other.directories);
  must(write_mark(other, mine));
  BOOST_TEST(marks(mine).size() == 1U);
  BOOST_TEST(must(read_mark(cgroup->record())).text == mine);
}

BOOST_AUTO_TEST_CASE(an_ordinary_user_finds_its_own_beside_what_it_may_not_look_into,
                     *boost::unit_test::precondition(host_has())) {
  TestCgroup own("own"), closed("closed");
  own.create();
  closed.create();
  const std::string mine = "own " + std::to_string(::getpid());
  must(write_mark(closed->record(), mine));  // root's: not seen
  for (const auto& [controllers, directory] : closed->record().directories)
    BOOST_REQUIRE(::chmod(directory.c_str(), 0700) == 0);
  const std::string top = own->record().directories.front().second;
  BOOST_REQUIRE(::chown(top.c_str(), 4711, 4711) == 0);
  const int status = ocirun::test::run_in_child(0, [&] {
    BOOST_REQUIRE(::setresuid(4711, 4711, 4711) == 0);
    must(write_mark(own->record(), mine));
    BOOST_REQUIRE(::chmod(top.c_str(), 0) == 0);
    const auto found = marks(mine);
    BOOST_TEST_REQUIRE(found.size() == 1U);
    BOOST_TEST(found[0].path == own->record().path);
    BOOST_TEST(!found[0].mark.written_by_root);
  });
  BOOST_TEST(status == 0);
}

// What a container writes on its own cgroup never stands for what root wrote there.
BOOST_AUTO_TEST_CASE(roots_mark_is_out_of_a_containers_reach,
                     *boost::unit_test::precondition(host_has())) {
  TestCgroup cgroup("of-root");
  cgroup.create();
  const std::string directory = cgroup->record().directories.front().second;
  must(write_mark(cgroup->record(), "root's"));
  BOOST_TEST(has(directory, "trusted.ocirun.container"));
  BOOST_REQUIRE(::setxattr(directory.c_str(), "user.ocirun.container", "forged", 6, 0) == 0);
  BOOST_TEST(must(read_mark(cgroup->record())).text == "root's");
}

BOOST_AUTO_TEST_CASE(a_user_marks_a_cgroup_of_its_own,
                     *boost::unit_test::precondition(host_has())) {
  TestCgroup cgroup("of-a-user");
  cgroup.create();
  const std::string directory = cgroup->record().directories.front().second;
  BOOST_REQUIRE(::chown(directory.c_str(), 4711, 4711) == 0);
  const int status = ocirun::test::run_in_child(0, [&] {
    BOOST_REQUIRE(::setresuid(4711, 4711, 4711) == 0);
    must(write_mark(cgroup->record(), "a user's"));
    BOOST_TEST(must(read_mark(cgroup->record())).text == "a user's");
  });
  BOOST_TEST(status == 0);
  BOOST_TEST(has(directory, "user.ocirun.container"));
  BOOST_TEST(!has(directory, "trusted.ocirun.container"));
}

BOOST_AUTO_TEST_SUITE_END()
