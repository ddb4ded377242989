// The state machine of a container, walked by a fake runtime and a fake clock: each event in each
// phase, and some whole lives.

#include "pods/run/lifecycle.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace ocirun;
using namespace ocirun::pods;
using namespace std::chrono_literals;

namespace {

constexpr std::array<std::string_view, kPhases> kPhaseNames{
    "new",     "making",  "claiming", "creating", "created", "starting", "cancelling",
    "halting", "running", "stopping", "removing", "waiting", "done"};
constexpr std::array<std::string_view, kEvents> kEventNames{
    "go", "done", "failed", "ended", "unhealthy", "restart", "stop", "kill", "due"};

/// Notes what the machine asks for.
class FakeWork final : public ContainerWork {
 public:
  Result<bool> begin(Job job) override {
    constexpr std::array<const char*, 5> kNames{"make", "claim", "create", "start", "remove"};
    done.emplace_back(kNames[static_cast<std::size_t>(job)]);
    if (fails_to_begin) return refuse("no");
    return !has_nothing_to_do;
  }
  void abandon() override { done.emplace_back("abandon"); }
  void send_stop_signal() override { done.emplace_back("signal"); }
  void send_sigkill(bool is_late) override { done.emplace_back(is_late ? "late-kill" : "kill"); }
  void record_start(Clock::time_point) override { done.emplace_back("started"); }
  void record_end(Clock::time_point) override { done.emplace_back("ended"); }
  void record_failure(bool is_first) override {
    done.emplace_back(is_first ? "failed-first" : "failed");
  }
  void record_no_start() override { done.emplace_back("not-started"); }
  void record_leftover() override { done.emplace_back("left"); }
  void record_outlook(std::optional<Clock::time_point> when) override {
    done.emplace_back(when ? "again" : "over");
    next = when;
  }
  bool wants_restart() const override { return restarts; }

  std::vector<std::string> done;
  std::optional<Clock::time_point> next;  // of the last record_outlook()
  bool restarts = true, fails_to_begin = false, has_nothing_to_do = false;
};

/// A machine with a clock of its own.
struct Walk {
  FakeWork work;
  Lifecycle life{work};
  Lifecycle::Clock::time_point now{1000h};

  void on(Event event) { life.handle(event, now, 10s); }
  void on(std::initializer_list<Event> events) {
    for (const Event event : events) on(event);
  }
  /// What the machine has done since the last call, and its phase: "claim -> claiming".
  std::string told() {
    const auto done = std::exchange(work.done, {});
    return fmt::format("{}{}-> {}", fmt::join(done, ", "), done.empty() ? "" : " ",
                       kPhaseNames[static_cast<std::size_t>(life.phase())]);
  }
};

using enum Event;

const std::vector<Event> kToRunning{kGo, kDone, kDone, kGo, kDone};

/// The events that lead to a phase.
std::vector<Event> way_to(Phase phase) {
  std::vector<Event> way = kToRunning;
  const auto then = [&](std::initializer_list<Event> more) {
    way.insert(way.end(), more);
    return way;
  };
  switch (phase) {
    case Phase::kNew:
      return {};
    case Phase::kMaking:
      return then({kEnded, kDone, kDue});
    case Phase::kClaiming:
      return {kGo};
    case Phase::kCreating:
      return {kGo, kDone};
    case Phase::kCreated:
      return {kGo, kDone, kDone};
    case Phase::kStarting:
      return {kGo, kDone, kDone, kGo};
    case Phase::kCancelling:
      return {kGo, kDone, kStop};
    case Phase::kHalting:
      return {kGo, kDone, kDone, kGo, kStop};
    case Phase::kRunning:
      return way;
    case Phase::kStopping:
      return then({kUnhealthy});
    case Phase::kRemoving:
      return then({kEnded});
    case Phase::kWaiting:
      return then({kEnded, kDone});
    case Phase::kDone:
      return then({kStop, kEnded, kDone});
  }
  std::unreachable();
}

/// What each event does in each phase. An event that is not listed does nothing.
struct Expected {
  Phase phase;
  std::vector<std::pair<Event, std::string_view>> cells;
};

const std::vector<Expected> kExpected{
    {Phase::kNew, {{kGo, "claim -> claiming"}, {kStop, "-> done"}, {kKill, "-> done"}}},
    {Phase::kMaking,
     {{kDone, "claim -> claiming"},
      {kFailed, "failed, again, remove -> removing"},
      {kStop, "-> cancelling"},
      {kKill, "abandon -> cancelling"}}},
    {Phase::kClaiming,
     {{kDone, "create -> creating"},
      {kFailed, "failed-first, over, remove -> removing"},
      {kStop, "-> cancelling"},
      {kKill, "abandon -> cancelling"}}},
    {Phase::kCreating,
     {{kDone, "-> created"},
      {kFailed, "failed-first, over, remove -> removing"},
      {kStop, "-> cancelling"},
      {kKill, "abandon -> cancelling"}}},
    {Phase::kCreated,
     {{kGo, "start -> starting"},
      {kEnded, "failed-first, over, remove -> removing"},
      {kStop, "not-started, over, remove -> removing"},
      {kKill, "not-started, over, remove -> removing"}}},
    {Phase::kStarting,
     {{kDone, "started -> running"},
      {kFailed, "failed-first, over, remove -> removing"},
      {kEnded, "-> starting"},
      {kStop, "-> halting"},
      {kKill, "abandon -> halting"}}},
    {Phase::kCancelling,
     {{kDone, "not-started, over, remove -> removing"},
      {kFailed, "not-started, over, remove -> removing"},
      {kKill, "abandon -> cancelling"},
      {kDue, "abandon -> cancelling"}}},
    {Phase::kHalting,
     {{kDone, "started, signal -> stopping"},
      {kFailed, "over, remove -> removing"},
      {kKill, "abandon -> halting"},
      {kDue, "abandon -> halting"}}},
    {Phase::kRunning,
     {{kEnded, "ended, again, remove -> removing"},
      {kUnhealthy, "signal -> stopping"},
      {kRestart, "signal -> stopping"},
      {kStop, "signal -> stopping"},
      {kKill, "kill -> stopping"}}},
    {Phase::kStopping,
     {{kEnded, "ended, again, remove -> removing"},
      {kKill, "kill -> stopping"},
      {kDue, "late-kill -> stopping"}}},
    {Phase::kRemoving,
     {{kDone, "-> waiting"},
      {kFailed, "left -> removing"},
      {kEnded, "ended -> removing"},
      {kRestart, "again -> removing"},
      {kStop, "over -> removing"},
      {kKill, "over, abandon -> removing"},
      {kDue, "remove -> removing"}}},
    {Phase::kWaiting,
     {{kRestart, "make -> making"},
      {kStop, "over -> done"},
      {kKill, "over -> done"},
      {kDue, "make -> making"}}},
    {Phase::kDone, {{kEnded, "ended -> done"}}},
};

std::string expected(Phase phase, Event event) {
  for (const Expected& row : kExpected)
    if (row.phase == phase)
      for (const auto& [at, what] : row.cells)
        if (at == event) return std::string(what);
  return fmt::format("-> {}", kPhaseNames[static_cast<std::size_t>(phase)]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lifecycle)

BOOST_AUTO_TEST_CASE(each_event_in_each_phase) {
  for (std::size_t phase = 0; phase < kPhases; ++phase)
    for (std::size_t event = 0; event < kEvents; ++event) {
      Walk walk;
      for (const Event step : way_to(static_cast<Phase>(phase))) walk.on(step);
      BOOST_REQUIRE(walk.life.phase() == static_cast<Phase>(phase));
      walk.work.done.clear();
      walk.on(static_cast<Event>(event));
      BOOST_TEST_CONTEXT(kPhaseNames[phase] << ", " << kEventNames[event])
      BOOST_TEST(walk.told() == expected(static_cast<Phase>(phase), static_cast<Event>(event)));
    }
}

BOOST_AUTO_TEST_CASE(a_container_that_has_run_goes_on_by_itself) {
  Walk walk;
  for (const Event event : kToRunning) walk.on(event);
  walk.on({kEnded, kDone, kDue, kDone, kDone});
  walk.work.done.clear();
  walk.on(kDone);
  BOOST_TEST(walk.told() == "start -> starting");
}

BOOST_AUTO_TEST_CASE(a_program_that_ends_before_its_start_is_told) {
  Walk walk;
  walk.on({kGo, kDone, kDone, kGo, kEnded});
  walk.work.done.clear();
  walk.on(kDone);
  BOOST_TEST(walk.told() == "started, ended, again, remove -> removing");
}

BOOST_AUTO_TEST_CASE(the_same_while_the_pod_stops) {
  Walk walk;
  walk.on({kGo, kDone, kDone, kGo, kStop, kEnded});
  walk.work.done.clear();
  walk.on(kDone);
  BOOST_TEST(walk.told() == "started, ended, over, remove -> removing");
  Walk failed;
  failed.on({kGo, kDone, kDone, kGo, kStop, kEnded});
  failed.work.done.clear();
  failed.on(kFailed);
  BOOST_TEST(failed.told() == "ended, over, remove -> removing");
}

BOOST_AUTO_TEST_CASE(without_a_restart_rule_a_program_ends_for_good) {
  Walk walk;
  walk.work.restarts = false;
  for (const Event event : kToRunning) walk.on(event);
  walk.on({kEnded, kDone});
  BOOST_TEST((walk.life.phase() == Phase::kDone));
  walk.work.done.clear();
  walk.on(kRestart);
  BOOST_TEST(walk.told() == "make -> making");
}

BOOST_AUTO_TEST_CASE(a_restart_does_not_wait_and_a_crash_does) {
  Walk walk;
  for (const Event event : kToRunning) walk.on(event);
  walk.on({kEnded, kDone});
  BOOST_TEST((walk.life.due() == walk.now + 1s));
  walk.on({kDue, kDone, kDone, kDone, kDone});
  BOOST_TEST((walk.life.phase() == Phase::kRunning));
  walk.on({kEnded, kDone});
  BOOST_TEST((walk.life.due() == walk.now + 2s));
  walk.on({kRestart, kDone, kDone, kDone, kDone, kRestart, kEnded, kDone});
  BOOST_TEST((walk.life.due() == walk.now));
}

BOOST_AUTO_TEST_CASE(a_restart_of_a_program_that_is_asked_to_end_is_not_lost) {
  Walk walk;
  walk.work.restarts = false;
  for (const Event event : kToRunning) walk.on(event);
  walk.on({kUnhealthy, kRestart, kEnded, kDone});
  BOOST_TEST((walk.life.phase() == Phase::kWaiting));
}

BOOST_AUTO_TEST_CASE(a_restart_is_due_once) {
  Walk walk;
  walk.work.restarts = false;
  for (const Event event : kToRunning) walk.on(event);
  walk.on({kRestart, kEnded, kDone, kDue, kDone, kDone, kDone, kDone});
  BOOST_TEST((walk.life.phase() == Phase::kRunning));
  walk.on({kEnded, kDone});
  BOOST_TEST((walk.life.phase() == Phase::kDone));
}

BOOST_AUTO_TEST_CASE(nothing_starts_again_in_a_pod_that_stops) {
  for (const std::size_t steps : {0u, 1u, 2u, 3u, 4u, 5u}) {
    Walk walk;
    for (std::size_t i = 0; i < steps; ++i) walk.on(kToRunning[i]);
    walk.on(kStop);
    for (const Event event : {kDone, kDone, kRestart, kEnded, kDone, kRestart, kDue, kGo})
      walk.on(event);
    BOOST_TEST((walk.life.phase() == Phase::kDone));
    BOOST_TEST((walk.life.due() == Lifecycle::Clock::time_point::max()));
  }
}

BOOST_AUTO_TEST_CASE(the_grace_period_is_the_shortest_that_was_given) {
  Walk walk;
  for (const Event event : kToRunning) walk.on(event);
  walk.on(kRestart);
  BOOST_TEST((walk.life.due() == walk.now + 10s));
  walk.life.handle(kStop, walk.now + 1s, 2s);
  BOOST_TEST((walk.life.due() == walk.now + 3s));
  walk.life.handle(kStop, walk.now + 1s, 20s);
  BOOST_TEST((walk.life.due() == walk.now + 3s));
}

BOOST_AUTO_TEST_CASE(sigkill_is_sent_each_second_and_told_once) {
  Walk walk;
  for (const Event event : kToRunning) walk.on(event);
  walk.on(kStop);
  walk.now += 10s;
  walk.work.done.clear();
  walk.on(kDue);
  BOOST_TEST(walk.told() == "late-kill -> stopping");
  BOOST_TEST((walk.life.due() == walk.now + 1s));
  walk.on(kDue);
  BOOST_TEST(walk.told() == "kill -> stopping");
}

BOOST_AUTO_TEST_CASE(a_start_that_was_killed_and_succeeds_does_not_keep_the_pod) {
  Walk walk;
  walk.on({kGo, kDone, kDone, kGo, kKill, kDone});
  BOOST_TEST((walk.life.phase() == Phase::kStopping));
  BOOST_TEST((walk.life.due() == walk.now + 1s));
  walk.work.done.clear();
  walk.on(kDue);
  BOOST_TEST(walk.told() == "late-kill -> stopping");
}

BOOST_AUTO_TEST_CASE(a_failure_is_tried_again_later_unless_it_is_the_first) {
  Walk walk;
  for (const Event event : kToRunning) walk.on(event);
  walk.on({kEnded, kDone, kDue, kDone, kDone, kFailed, kDone});
  BOOST_TEST((walk.life.phase() == Phase::kWaiting));
  BOOST_TEST((walk.life.due() == walk.now + 2s));
  Walk first;
  first.on({kGo, kDone, kFailed, kDone});
  BOOST_TEST((first.life.phase() == Phase::kDone));
}

BOOST_AUTO_TEST_CASE(a_job_that_cannot_begin_has_failed) {
  Walk walk;
  walk.work.fails_to_begin = true;
  walk.on(kGo);
  BOOST_TEST(walk.told() == "claim, failed-first, over, remove, left -> done");
}

BOOST_AUTO_TEST_CASE(a_job_without_work_is_done) {
  Walk walk;
  for (const Event event : kToRunning) walk.on(event);
  walk.work.has_nothing_to_do = true;
  walk.work.done.clear();
  walk.on(kEnded);
  BOOST_TEST(walk.told() == "ended, again, remove -> waiting");
}

BOOST_AUTO_TEST_CASE(a_removal_that_has_failed_is_tried_again_later_and_nothing_starts_before) {
  Walk walk;
  for (const Event event : kToRunning) walk.on(event);
  walk.on({kEnded, kFailed});
  BOOST_TEST((walk.life.due() == walk.now + 1s));
  walk.on(kDue);
  BOOST_TEST((walk.life.due() == Lifecycle::Clock::time_point::max()));
  walk.on(kFailed);
  BOOST_TEST((walk.life.due() == walk.now + 2s));
  BOOST_TEST((walk.life.phase() == Phase::kRemoving));
  walk.on({kDue, kDone});
  BOOST_TEST((walk.life.phase() == Phase::kWaiting));
}

BOOST_AUTO_TEST_CASE(a_removal_that_has_failed_is_tried_once_more_when_the_pod_stops) {
  for (const Event stop : {kStop, kKill}) {
    Walk walk;
    for (const Event event : kToRunning) walk.on(event);
    walk.on({kEnded, kFailed});
    walk.work.done.clear();
    walk.on(stop);
    BOOST_TEST(walk.told() == "over, remove -> removing");
    walk.on(kFailed);
    BOOST_TEST(walk.told() == "left -> done");
  }
}

BOOST_AUTO_TEST_CASE(what_is_left_is_removed_before_somebody_starts_the_container_again) {
  Walk walk;
  walk.work.restarts = false;
  for (const Event event : kToRunning) walk.on(event);
  walk.on({kEnded, kFailed});
  walk.work.done.clear();
  walk.on(kRestart);
  BOOST_TEST(walk.told() == "again, remove -> removing");
  walk.on(kDone);
  BOOST_TEST(walk.told() == "-> waiting");
  walk.on(kDue);
  BOOST_TEST(walk.told() == "make -> making");
}

BOOST_AUTO_TEST_CASE(a_second_stop_cuts_a_removal_short) {
  Walk walk;
  for (const Event event : kToRunning) walk.on(event);
  walk.on({kStop, kEnded});
  walk.work.done.clear();
  walk.on(kKill);
  BOOST_TEST(walk.told() == "over, abandon -> removing");
  walk.on(kFailed);
  BOOST_TEST(walk.told() == "left -> done");
}

BOOST_AUTO_TEST_CASE(adopted_containers_go_on) {
  Walk running;
  running.life.adopt_running(running.now);
  BOOST_TEST(running.told() == "-> running");
  running.now += 10min;
  running.on({kEnded, kDone});
  BOOST_TEST((running.life.due() == running.now + 1s));
  Walk waiting;
  waiting.life.adopt_waiting(waiting.now);
  BOOST_TEST(waiting.told() == "again, remove -> removing");
  waiting.on(kDone);
  BOOST_TEST((waiting.life.due() == waiting.now));
  Walk done;
  done.life.adopt_done();
  done.on(kDue);
  BOOST_TEST(done.told() == "-> done");
  done.on({kRestart, kDone, kDone});
  done.work.done.clear();
  done.on(kDone);
  BOOST_TEST(done.told() == "start -> starting");
}

BOOST_FIXTURE_TEST_CASE(the_time_of_the_next_start_is_told_and_grows, Walk) {
  for (const Event event : kToRunning) on(event);
  on(kEnded);
  BOOST_TEST((work.next == now + 1s));
  on({kDone, kDue, kDone, kDone, kDone, kDone, kEnded});
  BOOST_TEST((work.next == now + 2s));
  on(kRestart);
  BOOST_TEST((work.next == now));
  on(kStop);
  BOOST_TEST(!work.next);
}

BOOST_AUTO_TEST_SUITE_END()
