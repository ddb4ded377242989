#include "cgroups/container/record.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>

#include "tests/cgroups/container/kernel_fixture.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;
using namespace ocirun::cgroups::test;

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
  BOOST_TEST(found[0].mark.is_roots);
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
    BOOST_TEST(!found[0].mark.is_roots);
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
