#include "runtime/processes.hpp"

#include "linux/procfs.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(processes)

BOOST_AUTO_TEST_CASE(the_parent_is_read_whatever_the_name_is) {
  BOOST_TEST(parent_in_stat("12 (sleep) S 7 12 12 0") == 7);
  BOOST_TEST(parent_in_stat("12 (a) S 9) (b)) R 7 12") == 7);
  BOOST_TEST(parent_in_stat("1 (init) S 0 1 1") == 0);
  for (const char* text : {"12 (gone) Z 7 1", "12 (gone) X 7 1", "", "12 (cut", "12 (cut)"})
    BOOST_TEST(parent_in_stat(text) == kNoProcess);
}

BOOST_AUTO_TEST_CASE(a_container_is_its_init_its_namespace_and_their_descendants) {
  const std::vector<ProcessEntry> all{{1, 0},        {40, 20}, {20, 10}, {10, 1},       {11, 1},
                                      {50, 2, true}, {51, 50}, {2, 1},   {12, 11, true}};
  BOOST_TEST((select_processes(all, 10) == std::vector<int>{10, 12, 20, 40, 50, 51}));
  BOOST_TEST((select_processes({}, 10).empty()));
}

BOOST_AUTO_TEST_CASE(a_process_that_just_forked_has_two) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const std::vector<int> found = must(find_processes(::getpid(), false));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  BOOST_TEST((std::ranges::find(found, child) != found.end()));
  BOOST_TEST((std::ranges::find(found, ::getpid()) != found.end()));
  BOOST_TEST((std::ranges::find(found, 1) == found.end()));
}

BOOST_AUTO_TEST_SUITE_END()
