// The three probes of a container, with a script in the place of the runtime and with times that
// the test gives.

#include "pods/run/health.hpp"

#include <sys/wait.h>

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;
using namespace std::chrono_literals;

namespace {

/// A container with exec probes. The runtime is a script that executes the probe's command: `exec
/// --pid-file FILE ID COMMAND…`.
struct Scene {
  Scratch scratch;
  Container container;
  Runtime runtime{{scratch.script("runtime", "echo $$ >\"$3\"; shift 4; exec \"$@\"")}};
  Health::Clock::time_point now{1h};

  /// A probe that succeeds if the file NAME exists.
  Probe probe(const char* name) const {
    Probe probe;
    probe.question = ExecProbe{{"/bin/sh", "-c", "test -e " + scratch / name}};
    probe.period = 10s;
    probe.failure_threshold = 2;
    return probe;
  }
  Health health() const { return {container, runtime, "id", scratch.path(), Fd{-1}}; }
  void is_true(const char* name) const { scratch.file(name, ""); }
  void is_false(const char* name) const { std::filesystem::remove(scratch / name); }

  /// Asks what is due, waits for all answers, and returns the verdict on them.
  Health::Verdict round(Health& health) const {
    Health::Verdict verdict = health.tick(now);
    while (!children_of_this_process().empty()) {
      siginfo_t child{};
      BOOST_REQUIRE(::waitid(P_ALL, 0, &child, WEXITED | WNOWAIT) == 0);
      BOOST_REQUIRE(health.collect(child.si_pid));
      verdict = health.tick(now);
    }
    return verdict;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(health_of_a_container, Scene)

BOOST_AUTO_TEST_CASE(a_container_without_probes_is_ready_while_it_runs) {
  Health health = this->health();
  BOOST_TEST(!health.is_ready());
  health.begin(now);
  BOOST_TEST(health.is_ready());
  BOOST_TEST((health.next() == Health::Clock::time_point::max()));
  health.end();
  BOOST_TEST(!health.is_ready());
}

BOOST_AUTO_TEST_CASE(readiness_comes_and_goes) {
  container.readiness = probe("ready");
  Health health = this->health();
  health.begin(now);
  const Health::Verdict verdict = round(health);
  BOOST_TEST((!health.is_ready() && !verdict.must_restart));
  BOOST_TEST(verdict.reason == "readiness probe: exited with status 1");
  BOOST_TEST((health.next() == now + 10s));
  is_true("ready");
  now += 9s;
  round(health);
  BOOST_TEST(!health.is_ready());  // it was not due yet
  now += 1s;
  round(health);
  BOOST_TEST(health.is_ready());
  is_false("ready");
  now += 10s;
  round(health);
  BOOST_TEST(health.is_ready());  // one failure of two
  now += 10s;
  BOOST_TEST(!round(health).must_restart);
  BOOST_TEST(!health.is_ready());
}

BOOST_AUTO_TEST_CASE(failures_of_liveness_restart) {
  container.liveness = probe("alive");
  container.liveness->initial_delay = 5s;
  Health health = this->health();
  health.begin(now);
  BOOST_TEST((health.next() == now + 5s));
  BOOST_TEST((!round(health).must_restart && health.is_ready()));
  now += 5s;
  BOOST_TEST(!round(health).must_restart);
  now += 10s;
  BOOST_TEST(round(health).must_restart);
  health.end();
  health.begin(now);  // the next run begins anew
  now += 5s;
  BOOST_TEST(!round(health).must_restart);
}

BOOST_AUTO_TEST_CASE(the_others_wait_for_the_startup_probe_which_is_asked_no_more_afterwards) {
  container.startup = probe("started");
  container.liveness = probe("alive");
  container.readiness = probe("ready");
  is_true("ready");
  Health health = this->health();
  health.begin(now);
  BOOST_TEST((!round(health).must_restart && !health.is_ready()));
  is_true("started");
  is_true("alive");
  now += 10s;
  round(health);
  BOOST_TEST(health.is_ready());
  is_false("started");
  for (int i = 0; i < 3; ++i) {
    now += 10s;
    BOOST_TEST((!round(health).must_restart && health.is_ready()));
  }
}

BOOST_AUTO_TEST_CASE(a_startup_probe_that_fails_restarts) {
  container.startup = probe("started");
  Health health = this->health();
  health.begin(now);
  BOOST_TEST(!round(health).must_restart);
  now += 10s;
  BOOST_TEST(round(health).must_restart);
}

BOOST_AUTO_TEST_CASE(a_question_without_an_answer_in_time_is_a_failure_and_leaves_no_process) {
  container.liveness = probe("alive");
  container.liveness->question = ExecProbe{{"/bin/sleep", "987"}};
  container.liveness->failure_threshold = 1;
  container.liveness->timeout = 3s;
  Health health = this->health();
  health.begin(now);
  health.tick(now);
  BOOST_TEST((health.next() == now + 3s));
  std::vector<pollfd> watched;
  health.add_wanted(watched, now);
  BOOST_TEST(watched.size() == 2u);
  BOOST_REQUIRE(comes_true([&] { return !slurp(scratch / "liveness.pid").empty(); }));
  BOOST_TEST(!health.tick(now + 2s).must_restart);
  const Health::Verdict verdict = health.tick(now + 3s);
  BOOST_TEST(verdict.must_restart);
  BOOST_TEST(verdict.reason == "liveness probe: no answer within 3 s");
  BOOST_TEST(::waitpid(-1, nullptr, __WALL) > 0);  // the process was killed
  BOOST_TEST(children_of_this_process() == "");
}

BOOST_AUTO_TEST_CASE(a_runtime_that_is_not_there_is_a_failure) {
  runtime = Runtime({scratch / "absent"});
  container.readiness = probe("ready");
  Health health = this->health();
  health.begin(now);
  BOOST_TEST(round(health).reason.contains("/absent: no such file or directory"));
  BOOST_TEST(!health.is_ready());
}

BOOST_AUTO_TEST_CASE(a_program_has_started_when_its_startup_probe_says_so) {
  Health bare = this->health();
  BOOST_TEST(!bare.has_started());
  bare.begin(now);
  BOOST_TEST(bare.has_started());
  bare.end();
  BOOST_TEST(!bare.has_started());
  container.startup = probe("up");
  container.readiness = probe("ready");
  Health health = this->health();
  health.begin(now);
  round(health);
  BOOST_TEST(!health.has_started());
  is_true("up");
  now += 10s;
  round(health);
  BOOST_TEST((health.has_started() && !health.is_ready()));
}

BOOST_AUTO_TEST_SUITE_END()
