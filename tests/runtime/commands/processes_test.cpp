#include "runtime/commands/processes.hpp"

#include "linux/files/procfs.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(processes)

std::vector<int> pids_of(const std::vector<linux::ProcessIdentity>& processes) {
  std::vector<int> pids;
  for (const linux::ProcessIdentity& one : processes) pids.push_back(one.pid);
  return pids;
}

BOOST_AUTO_TEST_CASE(a_container_is_its_init_its_namespace_and_their_descendants) {
  const std::vector<ProcessEntry> all{{{1}, 0},   {{40}, 20}, {{20}, 10},
                                      {{10}, 1},  {{11}, 1},  {{50}, 2, true},
                                      {{51}, 50}, {{2}, 1},   {{12}, 11, true}};
  BOOST_TEST((pids_of(select_processes(all, 10)) == std::vector<int>{10, 12, 20, 40, 50, 51}));
  BOOST_TEST((select_processes({}, 10).empty()));
}

BOOST_AUTO_TEST_CASE(a_process_and_its_child_are_both_found) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto found = must(find_processes(::getpid(), false));
  const std::vector<int> pids = pids_of(found);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  BOOST_TEST((std::ranges::find(pids, child) != pids.end()));
  BOOST_TEST((std::ranges::find(pids, ::getpid()) != pids.end()));
  BOOST_TEST((std::ranges::find(pids, 1) == pids.end()));
  for (const linux::ProcessIdentity& one : found)
    if (one.pid == ::getpid())
      BOOST_TEST(one.start_time == must(linux::read_process_stat(::getpid())).start_time);
}

BOOST_AUTO_TEST_SUITE_END()
