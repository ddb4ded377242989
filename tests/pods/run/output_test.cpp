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

namespace {

linux::OutputPace::Reading output_clocks;

/// The output of a container, by clocks of the test. Each byte that it prints takes a microsecond.
struct OutputScene : Scratch {
  std::array<std::string, 2> printed;
  ContainerOutput output = must(ContainerOutput::open_log(
      open(), "app",
      [this](Stream stream, std::string_view lines) {
        printed[stream == Stream::kStdout ? 0 : 1] += lines;
        output_clocks.time += lines.size() * 1us;
        output_clocks.cpu += lines.size() * 1us;
      },
      linux::OutputPace([] { return output_clocks; })));
  linux::Streams streams = must(output.open());
};

void write_to(Fd pipe, std::string_view text) {
  BOOST_REQUIRE(::write(pipe.value, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

std::string lines_of(std::size_t bytes) {
  std::string lines;
  while (lines.size() < bytes) lines += "y\n";
  return lines;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(output_of_a_container)

BOOST_AUTO_TEST_CASE(streams_rest_after_each_reading_and_nothing_is_lost) {
  OutputScene scene;
  ContainerOutput& output = scene.output;
  BOOST_TEST((output.wanted(output_clocks.time)[0].fd >= 0 &&
              output.wanted(output_clocks.time)[1].fd >= 0));
  BOOST_TEST((output.next(output_clocks.time) == ContainerOutput::Clock::time_point::max()));
  write_to(scene.streams.out, "one\n");
  output.read_some(output_clocks.time);
  BOOST_TEST(scene.printed[0] == "one\n");
  write_to(scene.streams.out, "two\n");
  output.read_some(output_clocks.time);  // they rest
  BOOST_TEST(scene.printed[0] == "one\n");
  const auto end = output.next(output_clocks.time);
  BOOST_TEST((end >= output_clocks.time + 5ms && end < output_clocks.time + 1min));
  BOOST_TEST((output.wanted(output_clocks.time)[0].fd == -1 &&
              output.wanted(output_clocks.time)[1].fd == -1));
  BOOST_TEST(output.wanted(end)[0].fd >= 0);
  output_clocks.time = end;
  output.read_some(end);
  BOOST_TEST(scene.printed[0] == "one\ntwo\n");
  write_to(scene.streams.err, "last");
  output.finish();  // whether they rest or not
  BOOST_TEST(scene.printed[1] == "last\n");
  BOOST_TEST((output.next(output_clocks.time) == ContainerOutput::Clock::time_point::max()));
}

BOOST_AUTO_TEST_CASE(a_reading_of_a_full_pipe_ends_early_and_the_rest_counts_from_its_end) {
  OutputScene scene;
  write_to(scene.streams.out, lines_of(65536));
  write_to(scene.streams.err, "error\n");
  const auto begun = output_clocks.time;
  scene.output.read_some(begun);
  BOOST_TEST(scene.printed[1] == "error\n");  // a full stream does not hold up the other one
  BOOST_TEST(scene.printed[0].size() < 65536u);
  const auto work = output_clocks.time - begun;
  BOOST_TEST((scene.output.next(output_clocks.time) >= output_clocks.time + 9 * work));
  for (int readings = 0; readings < 8; ++readings) {
    output_clocks.time = std::min(scene.output.next(output_clocks.time), output_clocks.time + 1h);
    scene.output.read_some(output_clocks.time);
  }
  BOOST_TEST(scene.printed[0].size() == 65536u);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_program_does_not_lose_what_a_large_pipe_holds) {
  OutputScene scene;
  const int size = ::fcntl(scene.streams.out.value, F_SETPIPE_SZ, 1 << 20);
  BOOST_REQUIRE(size >= 65536);
  write_to(scene.streams.out, lines_of(static_cast<std::size_t>(size)));
  write_to(scene.streams.err, "unfinished");
  scene.output.read_some(output_clocks.time);
  scene.output.finish();
  BOOST_TEST((scene.printed[0] == lines_of(static_cast<std::size_t>(size))));
  BOOST_TEST(scene.printed[1] == "unfinished\n");
}

OCIRUN_CHILD_TEST(the_end_of_a_program_is_not_held_up_by_another_writer, CLONE_NEWPID) {
  ::alarm(kHangSeconds);
  OutputScene scene;
  if (::fork() == 0)
    for (const std::string lines = lines_of(4096);;)
      if (::write(scene.streams.out.value, lines.data(), lines.size()) < 0) ::_exit(0);
  while (scene.printed[0].empty()) {
    scene.output.read_some(output_clocks.time);
    output_clocks.time += 1h;
  }
  scene.output.finish();
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
