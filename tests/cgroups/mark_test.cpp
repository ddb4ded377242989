#include "cgroups/mark.hpp"

#include <sys/xattr.h>

#include "tests/cgroups/kernel_fixture.hpp"

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
  BOOST_TEST(read_mark(one->record()).empty());
  const std::string mine = "a-test's " + std::to_string(::getpid());
  must(write_mark(one->record(), mine + " one"));
  must(write_mark(two->record(), mine + " two"));
  BOOST_TEST(read_mark(one->record()) == mine + " one");
  const auto found = marks(mine + " o");
  BOOST_TEST_REQUIRE(found.size() == 1U);
  BOOST_TEST(found[0].directory == one->record().directories.front().second);
  BOOST_TEST(found[0].text == mine + " one");
  BOOST_TEST(marks(mine).size() == 2U);
  BOOST_TEST(marks(mine + " three").empty());
  must(write_mark(one->record(), "another's"));
  BOOST_TEST(marks(mine).size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_cgroup_that_is_not_there_has_no_mark,
                     *boost::unit_test::precondition(host_has())) {
  const TestCgroup cgroup("nowhere");
  BOOST_TEST(read_mark(cgroup->record()).empty());
  BOOST_TEST(read_mark(Record{}).empty());
  BOOST_TEST(!write_mark(cgroup->record(), "text").has_value());
}

BOOST_AUTO_TEST_CASE(a_mark_longer_than_the_kernel_takes_is_an_error,
                     *boost::unit_test::precondition(host_has())) {
  TestCgroup cgroup("long");
  cgroup.create();
  must(write_mark(cgroup->record(), std::string(60'000, 'x')));
  BOOST_TEST(read_mark(cgroup->record()).size() == 60'000U);
  BOOST_TEST(!write_mark(cgroup->record(), std::string(70'000, 'x')).has_value());
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
  BOOST_TEST(read_mark(cgroup->record()) == "root's");
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
    BOOST_TEST(read_mark(cgroup->record()) == "a user's");
  });
  BOOST_TEST(status == 0);
  BOOST_TEST(has(directory, "user.ocirun.container"));
  BOOST_TEST(!has(directory, "trusted.ocirun.container"));
}

BOOST_AUTO_TEST_SUITE_END()
