#include "linux/process/rlimits.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(rlimits)

BOOST_AUTO_TEST_CASE(sixteen_names_and_each_its_own_number)  // P-8
{
  const auto names = rlimit_names();
  BOOST_TEST(names.size() == 16U);
  std::uint64_t seen = 0;
  for (const std::string_view name : names) {
    const auto resource = rlimit_resource(name);
    BOOST_REQUIRE(resource);
    BOOST_TEST(rlimit_name(*resource) == name);
    seen |= std::uint64_t{1} << *resource;
  }
  BOOST_TEST(seen == 0xFFFFU);  // RLIM_NLIMITS of them
  for (const char* name : {"", "NOFILE", "RLIMIT_NOFILES", "rlimit_nofile", "RLIMIT_OFILE"})
    BOOST_TEST(!rlimit_resource(name), name);
}

OCIRUN_CHILD_TEST(both_limits_are_set_exactly, 0)  // P-8
{
  must(set_rlimit(0, {.resource = RLIMIT_NOFILE, .soft = 100, .hard = 200}));
  must(set_rlimit(0, {.resource = RLIMIT_CORE, .soft = 0, .hard = RLIM64_INFINITY}));
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  BOOST_TEST(limit.rlim_cur == 100U);
  BOOST_TEST(limit.rlim_max == 200U);
  ::getrlimit(RLIMIT_CORE, &limit);
  BOOST_TEST(limit.rlim_cur == 0U);
  BOOST_TEST((limit.rlim_max == RLIM_INFINITY));
}

OCIRUN_CHILD_TEST(a_parent_sets_the_limits_of_its_child, 0) {
  const int parent = ::getpid();
  const int status = run_in_child(
      0, [&] { must(set_rlimit(parent, {.resource = RLIMIT_NPROC, .soft = 500, .hard = 1000})); });
  BOOST_TEST(status == 0);
  rlimit limit{};
  ::getrlimit(RLIMIT_NPROC, &limit);
  BOOST_TEST(limit.rlim_cur == 500U);
  BOOST_TEST(limit.rlim_max == 1000U);
}

OCIRUN_CHILD_TEST(a_soft_limit_above_the_hard_one_is_refused, 0) {
  BOOST_TEST(must_fail(set_rlimit(0, {.resource = RLIMIT_CPU, .soft = 3, .hard = 2})) ==
             "set RLIMIT_CPU to soft 3, hard 2 (the soft limit may not be above the hard limit):"
             " invalid argument");
}

OCIRUN_CHILD_TEST(raising_without_the_capability_says_what_it_needs, 0) {
  must(set_rlimit(0, {.resource = RLIMIT_STACK, .soft = 1 << 20, .hard = 1 << 20}));
  BOOST_REQUIRE(::setresuid(1000, 1000, 1000) == 0);
  const std::string message =
      must_fail(set_rlimit(0, {.resource = RLIMIT_STACK, .soft = 1, .hard = RLIM64_INFINITY}));
  BOOST_TEST(message.starts_with("set RLIMIT_STACK to soft 1, hard unlimited"));
  BOOST_TEST(message.contains("ask for at most the hard limit"), message);
  BOOST_TEST(message.ends_with(": operation not permitted"));
}

OCIRUN_CHILD_TEST(the_limit_that_is_refused_is_named_by_its_pointer, 0) {
  const std::string message =
      must_fail(set_rlimits(0, {{.resource = RLIMIT_STACK, .soft = 1 << 20, .hard = 1 << 20},
                                {.resource = RLIMIT_CPU, .soft = 3, .hard = 2}}));
  BOOST_TEST(message.starts_with("/process/rlimits/1: set RLIMIT_CPU"), message);
}

BOOST_AUTO_TEST_SUITE_END()
