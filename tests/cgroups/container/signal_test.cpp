#include <sys/prctl.h>

#include <chrono>

#include "tests/cgroups/container/kernel_fixture.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;
using namespace ocirun::cgroups::test;

namespace {

constexpr int kFamily = 20;

/// Forks children, each in a session of its own, and waits for ever. Killing one of these processes
/// ends no other one.
int family() {
  for (int i = 0; i < kFamily; ++i)
    if (::fork() == 0) {
      ::setsid();
      Member::sleep_forever();
    }
  return Member::sleep_forever();
}

/// Forks faster than the cgroup can be listed.
int fork_for_ever() {
  while (true) {
    if (::fork() == 0) continue;
    ::usleep(200);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
  }
}

bool becomes(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(40);  // a hang
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    ::usleep(1000);
  }
  return true;
}

std::size_t count(const TestCgroup& cgroup) { return must(cgroup->pids()).size(); }

/// Makes this process the parent of orphans, and reaps all children at the end.
struct Reaper {
  Reaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~Reaper() {
    while (::waitpid(-1, nullptr, 0) > 0) continue;
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }
};

void freeze_and_thaw(const Layout& layout) {
  TestCgroup cgroup("freeze", layout);
  cgroup.create();
  int pipe_ends[2];
  BOOST_REQUIRE(::pipe2(pipe_ends, O_NONBLOCK) == 0);
  Member member(cgroup, [&]() -> int {
    while (true) {
      ignore(::write(pipe_ends[1], "x", 1));
      ::usleep(500);
    }
  });
  const auto drain = [&] {
    char buffer[65536];
    return ::read(pipe_ends[0], buffer, sizeof buffer) > 0;
  };
  BOOST_TEST(becomes(drain));
  BOOST_CHECK(must(cgroup->freezer_state()) == FreezerState::kThawed);
  must(cgroup->freeze(FreezerState::kFrozen));
  BOOST_CHECK(must(cgroup->freezer_state()) == FreezerState::kFrozen);
  BOOST_CHECK(must(freezer_state_of(cgroup->record())) == FreezerState::kFrozen);
  drain();
  ::usleep(20'000);
  BOOST_TEST(!drain());
  must(cgroup->freeze(FreezerState::kFrozen));  // again is no error
  must(cgroup->freeze(FreezerState::kThawed));
  BOOST_CHECK(must(cgroup->freezer_state()) == FreezerState::kThawed);
  BOOST_CHECK(must(freezer_state_of(cgroup->record())) == FreezerState::kThawed);
  BOOST_TEST(becomes(drain));
  must(cgroup->freeze(FreezerState::kThawed));
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

void kill_a_family(const Layout& layout) {
  const Reaper reaper;
  TestCgroup cgroup("kill", layout);
  cgroup.create();
  Member member(cgroup, family);
  BOOST_TEST(becomes([&] { return count(cgroup) == kFamily + 1; }));
  must(cgroup->signal_all(SIGKILL));
  BOOST_TEST(becomes([&] { return count(cgroup) == 0; }));
}

void kill_the_frozen(const Layout& layout) {
  const Reaper reaper;
  TestCgroup cgroup("kill-frozen", layout);
  cgroup.create();
  Member member(cgroup, family);
  BOOST_TEST(becomes([&] { return count(cgroup) == kFamily + 1; }));
  must(cgroup->freeze(FreezerState::kFrozen));
  must(cgroup->signal_all(SIGKILL));
  BOOST_TEST(member.wait() == -SIGKILL);
  BOOST_TEST(becomes([&] { return count(cgroup) == 0; }));
}

void destroy_a_fork_bomb(const Layout& layout) {
  const Reaper reaper;
  TestCgroup cgroup("bomb", layout);
  cgroup.create();
  Resources resources;
  resources.pids_limit = 60;
  if (layout.hierarchies.size() > 1) must(cgroup->apply(resources));
  Member member(cgroup, layout.hierarchies.size() > 1 ? fork_for_ever : family);
  BOOST_TEST(becomes([&] { return count(cgroup) > 1; }));
  must(cgroup->destroy());
  BOOST_TEST(!cgroup.exists());
}

/// The host's v1 hierarchies without the unified one: no cgroup.kill there.
Layout v1_layout() {
  Layout layout = host_layout();
  std::erase_if(layout.hierarchies, [](const Hierarchy& h) { return h.unified; });
  return layout;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(signals, *boost::unit_test::precondition(host_has()))

BOOST_AUTO_TEST_CASE(freezing_stops_and_thawing_goes_on) { freeze_and_thaw(host_layout()); }
BOOST_AUTO_TEST_CASE(freezing_stops_and_thawing_goes_on_in_the_unified_hierarchy,
                     *boost::unit_test::precondition(host_has("unified"))) {
  freeze_and_thaw(unified_layout());
}

BOOST_AUTO_TEST_CASE(sigkill_reaches_every_process)
{
  kill_a_family(host_layout());
}
BOOST_AUTO_TEST_CASE(sigkill_reaches_every_process_without_cgroup_kill,
                     *boost::unit_test::precondition(host_has("freezer"))) {
  kill_a_family(v1_layout());
}
BOOST_AUTO_TEST_CASE(sigkill_reaches_every_process_in_the_unified_hierarchy,
                     *boost::unit_test::precondition(host_has("unified"))) {
  kill_a_family(unified_layout());
}

BOOST_AUTO_TEST_CASE(frozen_processes_die_too) { kill_the_frozen(host_layout()); }
BOOST_AUTO_TEST_CASE(frozen_processes_die_too_without_cgroup_kill,
                     *boost::unit_test::precondition(host_has("freezer"))) {
  kill_the_frozen(v1_layout());
}
BOOST_AUTO_TEST_CASE(frozen_processes_die_too_in_the_unified_hierarchy,
                     *boost::unit_test::precondition(host_has("unified"))) {
  kill_the_frozen(unified_layout());
}

BOOST_AUTO_TEST_CASE(a_process_that_forks_all_the_time_is_removed,
                     *boost::unit_test::precondition(host_has("pids"))) {
  destroy_a_fork_bomb(host_layout());
}
BOOST_AUTO_TEST_CASE(a_process_that_forks_all_the_time_is_removed_without_cgroup_kill,
                     *boost::unit_test::precondition(host_has("pids", "freezer"))) {
  destroy_a_fork_bomb(v1_layout());
}

BOOST_AUTO_TEST_CASE(another_signal_reaches_all_and_leaves_the_cgroup_as_it_was) {
  const Reaper reaper;
  TestCgroup cgroup("term");
  cgroup.create();
  Member member(cgroup, family);
  BOOST_TEST(becomes([&] { return count(cgroup) == kFamily + 1; }));
  must(cgroup->signal_all(SIGTERM));
  BOOST_CHECK(must(cgroup->freezer_state()) == FreezerState::kThawed);
  BOOST_TEST(member.wait() == -SIGTERM);
  BOOST_TEST(becomes([&] { return count(cgroup) == 0; }));
}

BOOST_AUTO_TEST_CASE(the_caller_is_never_signalled) {
  TestCgroup cgroup("caller");
  cgroup.create();
  Member member(cgroup, [&] {
    const auto mine = must(open_cgroup(cgroup->record()));
    return mine->signal_all(SIGKILL) && mine->signal_all(SIGTERM) ? 7 : 1;
  });
  BOOST_TEST(member.wait() == 7);
}

BOOST_AUTO_TEST_SUITE_END()
