#include "runtime/foreground/relay.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "runtime/base/signals.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

/// A pty in raw mode, and pipes as the caller's stdin and stdout. The test's ends (slave, typist,
/// reader) are non-blocking.
struct Scene {
  Scene() {
    master = UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    BOOST_REQUIRE(::grantpt(master.get()) == 0 && ::unlockpt(master.get()) == 0);
    slave = UniqueFd(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    termios state{};
    BOOST_REQUIRE(::tcgetattr(slave.get(), &state) == 0);
    ::cfmakeraw(&state);
    BOOST_REQUIRE(::tcsetattr(slave.get(), TCSANOW, &state) == 0);
    make_pipe(input, typist);
    make_pipe(reader, output);
    ::fcntl(typist.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(reader.get(), F_SETFL, O_NONBLOCK);
  }
  static void make_pipe(UniqueFd& from, UniqueFd& to) {
    int ends[2];
    BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    from = UniqueFd(ends[0]);
    to = UniqueFd(ends[1]);
  }

  /// Polls and copies `times` times, as the loop of a foreground command does. 200 is more than any
  /// test needs.
  static void turn(Relay& relay, int times = 200) {
    for (int i = 0; i < times; ++i) {
      auto wanted = relay.wanted();
      ::poll(wanted.data(), wanted.size(), 0);
      relay.carry(wanted);
    }
  }
  Relay relay() const { return Relay(master, input, output); }

  UniqueFd master, slave, input, typist, reader, output;
};

/// `count` numbered lines: a comparison shows lost, doubled and misordered bytes.
std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + "\n";
  return text;
}

/// Writes to `to` until it would block; returns the number of bytes.
std::size_t offer(Fd to, std::string_view text) {
  std::size_t taken = 0;
  while (taken < text.size()) {
    const ssize_t count = ::write(to.value, text.data() + taken, text.size() - taken);
    if (count <= 0) break;
    taken += static_cast<std::size_t>(count);
  }
  return taken;
}

std::string take(Fd from) {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = ::read(from.value, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(relay)

// A relay that blocks would block for ever: the time limit of run_in_child() ends the test.
BOOST_AUTO_TEST_CASE(a_program_that_reads_nothing_holds_up_neither_us_nor_its_output) {
  BOOST_TEST(run_in_child(0, [] {
               Scene scene;
               Relay relay = scene.relay();
               const std::string typed = lines(100'000);
               std::size_t given = 0;
               for (int i = 0; i < 10; ++i) {
                 given += offer(scene.typist, std::string_view(typed).substr(given));
                 Scene::turn(relay);
               }
               BOOST_TEST(given < typed.size());  // the pty and the relay are full
               BOOST_TEST(offer(scene.slave, "prompt") == 6u);
               Scene::turn(relay, 5);
               BOOST_TEST(take(scene.reader) == "prompt");

               std::string arrived;
               while (arrived.size() < typed.size()) {
                 given += offer(scene.typist, std::string_view(typed).substr(given));
                 Scene::turn(relay, 20);
                 arrived += take(scene.slave);
               }
               BOOST_TEST((arrived == typed));
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_caller_that_reads_nothing_holds_up_neither_us_nor_the_keys) {
  BOOST_TEST(run_in_child(0, [] {
               Scene scene;
               Relay relay = scene.relay();
               const std::string shown = lines(100'000);
               std::size_t given = 0;
               for (int i = 0; i < 20; ++i) {
                 given += offer(scene.slave, std::string_view(shown).substr(given));
                 Scene::turn(relay);
               }
               BOOST_TEST(given < shown.size());
               BOOST_TEST(offer(scene.typist, "key") == 3u);
               Scene::turn(relay, 5);
               BOOST_TEST(take(scene.slave) == "key");

               std::string arrived;
               while (arrived.size() < shown.size()) {
                 given += offer(scene.slave, std::string_view(shown).substr(given));
                 Scene::turn(relay, 20);
                 arrived += take(scene.reader);
               }
               BOOST_TEST((arrived == shown));
             }) == 0);
}

BOOST_AUTO_TEST_CASE(an_output_that_is_gone_does_not_hold_the_program_up) {
  BOOST_TEST(run_in_child(0, [] {
               ::signal(SIGPIPE, SIG_IGN);
               Scene scene;
               Relay relay = scene.relay();
               scene.reader.reset();
               const std::string shown = lines(100'000);
               for (std::size_t given = 0; given < shown.size(); Scene::turn(relay, 20))
                 given += offer(scene.slave, std::string_view(shown).substr(given));
             }) == 0);
}

BOOST_AUTO_TEST_CASE(an_input_that_ends_or_a_terminal_that_closes_is_watched_no_longer) {
  Scene scene;
  Relay relay = scene.relay();
  scene.typist.reset();
  Scene::turn(relay, 3);
  BOOST_TEST(relay.wanted()[1].fd == -1);
  BOOST_TEST(relay.wanted()[0].fd == scene.master.get());
  scene.slave.reset();
  Scene::turn(relay, 3);
  for (const pollfd& watched : relay.wanted()) BOOST_TEST(watched.fd == -1);
}

// The relay's input is the controlling terminal, and another job is in the foreground of it.
BOOST_AUTO_TEST_CASE(a_read_that_is_refused_in_the_background_holds_the_input_and_is_no_end) {
  BOOST_TEST(run_in_child(0, [] {
               Scene scene, own;
               BOOST_REQUIRE(::setsid() > 0);
               BOOST_REQUIRE(::ioctl(own.slave.get(), TIOCSCTTY, 0) == 0);
               BOOST_REQUIRE(Signals::capture());
               const pid_t front = ::fork();
               if (front == 0) {
                 ::pause();
                 ::_exit(0);
               }
               ::setpgid(front, front);
               BOOST_REQUIRE(::tcsetpgrp(own.slave.get(), front) == 0);
               Relay relay(scene.master, own.slave, scene.output);
               BOOST_TEST(offer(own.master, "typed") == 5u);
               Scene::turn(relay, 3);
               BOOST_TEST(relay.input_is_held());
               BOOST_TEST(relay.wanted()[1].fd == -1);
               BOOST_TEST(take(scene.slave) == "");
               BOOST_REQUIRE(::tcsetpgrp(own.slave.get(), ::getpgrp()) == 0);
               relay.hold_input(false);
               Scene::turn(relay, 3);
               BOOST_TEST(!relay.input_is_held());
               BOOST_TEST(take(scene.slave) == "typed");
               ::close(Signals::descriptor().value);
               ::kill(front, SIGKILL);
               ::waitpid(front, nullptr, 0);
             }) == 0);
}

BOOST_AUTO_TEST_CASE(the_callers_descriptors_keep_their_flags) {
  Scene scene;
  const int before = ::fcntl(scene.output.get(), F_GETFL);
  const Relay relay = scene.relay();
  BOOST_TEST(::fcntl(scene.output.get(), F_GETFL) == before);
  BOOST_TEST((::fcntl(scene.input.get(), F_GETFL) & O_NONBLOCK) == 0);
  BOOST_TEST((::fcntl(scene.master.get(), F_GETFL) & O_NONBLOCK) != 0);
}

BOOST_AUTO_TEST_CASE(the_end_gives_all_that_the_terminal_holds) {
  Scene scene;
  Relay relay = scene.relay();
  const std::string shown = lines(500);
  BOOST_REQUIRE(offer(scene.slave, shown) == shown.size());
  scene.slave.reset();
  relay.drain();
  BOOST_TEST((take(scene.reader) == shown));
}

BOOST_AUTO_TEST_CASE(drain_ends_although_another_process_goes_on_writing) {
  BOOST_TEST(run_in_child(0, [] {
               Scene scene;
               Relay relay = scene.relay();
               ::fcntl(scene.slave.get(), F_SETFL, 0);
               const pid_t talker = ::fork();
               if (talker == 0)
                 for (;;) ignore(::write(scene.slave.get(), "flood\n", 6));
               ::fcntl(scene.reader.get(), F_SETFL, 0);
               const pid_t listener = ::fork();
               if (listener == 0) {
                 scene.output.reset();
                 for (char buffer[4096]; ::read(scene.reader.get(), buffer, sizeof buffer) > 0;) {
                 }
                 ::_exit(0);
               }
               relay.drain();
               for (const pid_t pid : {talker, listener}) {
                 ::kill(pid, SIGKILL);
                 ::waitpid(pid, nullptr, 0);
               }
             }) == 0);
}

BOOST_AUTO_TEST_CASE(the_end_waits_for_a_slow_caller_until_a_signal_says_no) {
  BOOST_TEST(run_in_child(0, [] {
               must(Signals::capture());
               keep_descriptors();
               Scene scene;
               Relay relay = scene.relay();
               BOOST_REQUIRE(offer(scene.slave, lines(500)) != 0u);
               ::fcntl(scene.output.get(), F_SETFL, O_NONBLOCK);
               while (::write(scene.output.get(), "full", 4) > 0) {
               }
               const UniqueFd says_no(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
               const pid_t parent = ::getpid();
               const pid_t sender = ::fork();
               if (sender == 0) {
                 ::kill(parent, SIGWINCH);  // does not ask the process to end
                 ::usleep(300'000);         // a drain that ends on SIGWINCH ends before the event
                 ::eventfd_write(says_no.get(), 1);
                 ::kill(parent, SIGTERM);
                 ::_exit(0);
               }
               relay.drain();
               eventfd_t said = 0;
               BOOST_TEST(::eventfd_read(says_no.get(), &said) == 0);
               ::waitpid(sender, nullptr, 0);
             }) == 0);
}

BOOST_AUTO_TEST_CASE(without_a_terminal_there_is_nothing_to_watch) {
  Scene scene;
  Relay relay(Fd{}, scene.input, scene.output);
  for (const pollfd& watched : relay.wanted()) BOOST_TEST(watched.fd == -1);
  relay.drain();
}

BOOST_AUTO_TEST_SUITE_END()
