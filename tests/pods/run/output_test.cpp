// What a supervisor reads of its containers and of who wants them stopped.

#include "pods/run/output.hpp"

#include <sys/wait.h>

#include "linux/files/procfs.hpp"
#include "pods/run/supervisor_signals.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(output_of_a_container)

BOOST_AUTO_TEST_CASE(streams_rest_after_each_reading_and_nothing_is_lost) {
  const Scratch scratch;
  std::vector<std::string> lines;
  ContainerOutput output = must(ContainerOutput::open_log(
      scratch.open(), "app", [&](Stream, std::string_view line) { lines.emplace_back(line); }));
  const linux::Streams streams = must(output.open());
  const ContainerOutput::Clock::time_point now{1h};
  BOOST_TEST((output.wanted(now)[0].fd >= 0 && output.wanted(now)[1].fd >= 0));
  BOOST_TEST((output.next(now) == ContainerOutput::Clock::time_point::max()));
  BOOST_REQUIRE(::write(streams.out.value, "one\n", 4) == 4);
  output.read_some(now);
  BOOST_TEST(lines == std::vector<std::string>{"one"}, boost::test_tools::per_element());
  BOOST_REQUIRE(::write(streams.out.value, "two\n", 4) == 4);
  output.read_some(now);  // they rest
  BOOST_TEST(lines.size() == 1u);
  const auto end = output.next(now);
  BOOST_TEST((end >= now + 5ms && end < now + 1min));
  BOOST_TEST((output.wanted(now)[0].fd == -1 && output.wanted(now)[1].fd == -1));
  BOOST_TEST(output.wanted(end)[0].fd >= 0);
  output.read_some(end);
  BOOST_TEST(lines.size() == 2u);
  BOOST_REQUIRE(::write(streams.err.value, "last", 4) == 4);
  output.finish();  // whether they rest or not
  BOOST_TEST(lines.back() == "last");
  BOOST_TEST((output.next(end) == ContainerOutput::Clock::time_point::max()));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(requests_to_stop)

OCIRUN_CHILD_TEST(requests_are_counted_and_the_last_grace_period_counts, CLONE_NEWPID) {
  const SupervisorSignals signals = must(SupervisorSignals::block());
  BOOST_TEST(signals.take().count == 0);
  must(signals.check());
  ::raise(SIGCHLD);
  BOOST_TEST(signals.take().count == 0);
  ::raise(SIGTERM);
  const SupervisorSignals::Requests plain = signals.take();
  BOOST_TEST((plain.count == 1 && !plain.grace));
  BOOST_REQUIRE(::sigqueue(::getpid(), SIGTERM, {.sival_int = 7}) == 0);
  ::raise(SIGINT);
  const SupervisorSignals::Requests both = signals.take();
  BOOST_TEST((both.count == 2 && both.grace == 7s));
  BOOST_REQUIRE(::sigqueue(::getpid(), SIGURG, {.sival_int = 5 << 16 | 3}) == 0);
  const SupervisorSignals::Requests restart = signals.take();
  BOOST_TEST((restart.count == 0 && restart.restarts == std::vector{RestartRequest::of(3, 5)}));
  ::raise(SIGHUP);
  BOOST_TEST(must_fail(signals.check()).starts_with("a signal has ended the start of the pod"));
}

BOOST_AUTO_TEST_CASE(a_grace_period_is_asked_for_at_a_process) {
  BOOST_TEST(run_in_child(0, [] {
               const SupervisorSignals signals = must(SupervisorSignals::block());
               const linux::ProcessStat stat = must(linux::read_process_stat(::getpid()));
               must(ask_to_stop({.pid = ::getpid(), .start_time = stat.start_time}, 90s));
               BOOST_TEST((signals.take().grace == 90s));
             }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
