#include "shim/loop/loop.hpp"

#include <sys/epoll.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <string>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "tests/shim/loop_scene.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;
using namespace std::chrono_literals;

namespace {

/// A pipe that has a byte to read.
linux::Pipe ready_pipe() {
  linux::Pipe pipe = must(linux::make_pipe());
  must(linux::write_all(pipe.writer, "x"));
  return pipe;
}

Async<> note_after(Notice& notice, std::string& order, char letter) {
  co_await notice;
  order += letter;
}

Async<> note_in(Gate& gate, Notice& end, std::string& order, char letter) {
  const Gate::Pass pass = co_await gate.enter();
  order += letter;
  co_await end;
  order += static_cast<char>(letter - 'a' + 'A');
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(the_loop, LoopScene)

BOOST_AUTO_TEST_CASE(posted_calls_are_made_in_order) {
  std::string order;
  loop.post([&] {
    order += 'a';
    loop.post([&] { order += 'c'; });
    loop.post([&] { loop.stop(); });
  });
  loop.post([&] { order += 'b'; });
  must(loop.run());
  BOOST_TEST(order == "abc");
}

BOOST_AUTO_TEST_CASE(after_stop_no_event_is_told) {
  const linux::Pipe pipe = ready_pipe();
  bool is_told = false;
  must(loop.watch(pipe.reader, EPOLLIN, [&](std::uint32_t) { is_told = true; }));
  loop.after(0ms, [&] { loop.stop(); });
  must(loop.run());
  BOOST_TEST(!is_told);
}

BOOST_AUTO_TEST_CASE(descriptors_get_their_turn_among_calls_that_post_calls) {
  const linux::Pipe pipe = ready_pipe();
  bool is_served = false;
  must(loop.watch(pipe.reader, EPOLLIN, [&](std::uint32_t) { is_served = true; }));
  int rounds = 0;
  const std::function<void()> again = [&] {
    if (is_served || ++rounds == 1000) return loop.stop();
    loop.post(again);
  };
  loop.post(again);
  must(loop.run());
  BOOST_TEST(is_served);
}

BOOST_AUTO_TEST_CASE(timers_come_in_the_order_of_their_times_and_not_early) {
  std::string order;
  const auto begin = Loop::Clock::now();
  Loop::Clock::duration taken{};
  loop.after(30ms, [&] {
    order += 'c';
    taken = Loop::Clock::now() - begin;
    loop.stop();
  });
  loop.after(10ms, [&] { order += 'b'; });
  loop.after(0ms, [&] { order += 'a'; });
  must(loop.run());
  BOOST_TEST(order == "abc");
  BOOST_TEST((taken >= 30ms));
}

BOOST_AUTO_TEST_CASE(a_timer_that_starts_another_does_not_keep_descriptors_waiting) {
  const linux::Pipe pipe = ready_pipe();
  must(loop.watch(pipe.reader, EPOLLIN, [&](std::uint32_t) { loop.stop(); }));
  int rounds = 0;
  const std::function<void()> again = [&] {
    if (++rounds < 1'000'000) loop.after(0ms, again);
  };
  loop.after(0ms, again);
  must(loop.run());
  BOOST_TEST(rounds < 1'000'000);
}

BOOST_AUTO_TEST_CASE(a_descriptor_is_told_again_until_its_bytes_are_read) {
  const linux::Pipe pipe = ready_pipe();
  int calls = 0;
  must(loop.watch(pipe.reader, EPOLLIN, [&](std::uint32_t events) {
    BOOST_TEST(events == static_cast<std::uint32_t>(EPOLLIN));
    if (++calls == 3) loop.stop();
  }));
  must(loop.run());
  BOOST_TEST(calls == 3);
}

BOOST_AUTO_TEST_CASE(a_descriptor_that_is_forgotten_during_a_round_is_not_told_of_its_event) {
  const std::array<linux::Pipe, 2> pipes{ready_pipe(), ready_pipe()};
  std::array<int, 2> calls{};
  for (std::size_t i = 0; i < 2; ++i)
    must(loop.watch(pipes.at(i).reader, EPOLLIN, [&, i](std::uint32_t) {
      ++calls.at(i);
      loop.forget(pipes.at(1 - i).reader);
      loop.after(5ms, [&] { loop.stop(); });
      loop.forget(pipes.at(i).reader);  // while its own function is called
    }));
  must(loop.run());
  BOOST_TEST(calls[0] + calls[1] == 1);
}

BOOST_AUTO_TEST_CASE(a_function_that_forgets_its_descriptor_keeps_what_it_has_captured) {
  const linux::Pipe pipe = ready_pipe();
  std::string seen;
  must(loop.watch(pipe.reader, EPOLLIN,
                  [this, &seen, &pipe, text = std::string(100, 'x')](std::uint32_t) {
                    loop.forget(pipe.reader);
                    seen = text;
                    loop.stop();
                  }));
  must(loop.run());
  BOOST_TEST(seen == std::string(100, 'x'));
}

BOOST_AUTO_TEST_CASE(an_event_of_a_closed_descriptor_is_not_told_to_the_next_of_the_same_number) {
  std::array<linux::Pipe, 2> pipes{ready_pipe(), ready_pipe()};
  linux::Pipe other = must(linux::make_pipe());
  std::string order;
  for (std::size_t i = 0; i < 2; ++i)
    must(loop.watch(pipes.at(i).reader, EPOLLIN, [&, i](std::uint32_t) {
      order += "first ";
      loop.forget(pipes.at(i).reader);
      UniqueFd& reader = pipes.at(1 - i).reader;
      const int number = reader.get();
      loop.forget(reader);
      reader.reset();
      other.reader.reset(::fcntl(other.reader.get(), F_DUPFD_CLOEXEC, number));
      BOOST_TEST(other.reader.get() == number);
      must(loop.watch(other.reader, EPOLLIN, [&](std::uint32_t) {
        order += "other";
        loop.stop();
      }));
      loop.after(5ms, [&] {
        order += "written ";
        must(linux::write_all(other.writer, "x"));
      });
    }));
  must(loop.run());
  BOOST_TEST(order == "first written other");
}

BOOST_AUTO_TEST_CASE(the_events_of_a_descriptor_can_change) {
  const linux::Pipe pipe = must(linux::make_pipe());
  must(loop.watch(pipe.writer, 0, [&](std::uint32_t) { loop.stop(); }));
  bool has_waited = false;
  loop.after(5ms, [&] {
    has_waited = true;
    must(loop.change(pipe.writer, EPOLLOUT));
  });
  must(loop.run());
  BOOST_TEST(has_waited);
  loop.forget(pipe.writer);
  BOOST_TEST(loop.change(pipe.writer, EPOLLIN).error().number() == ENOENT);
}

BOOST_AUTO_TEST_CASE(a_regular_file_cannot_be_watched_and_a_descriptor_not_twice) {
  const Scratch scratch;
  const UniqueFd file = must(linux::sys::open(scratch.file("file", "").c_str(), O_RDONLY));
  BOOST_TEST(loop.watch(file, EPOLLIN, [](std::uint32_t) {}).error().number() == EPERM);
  const linux::Pipe pipe = ready_pipe();
  bool is_told = false;
  must(loop.watch(pipe.reader, EPOLLIN, [&](std::uint32_t) {
    is_told = true;
    loop.stop();
  }));
  BOOST_TEST(loop.watch(pipe.reader, EPOLLIN, [](std::uint32_t) {}).error().number() == EEXIST);
  must(loop.run());
  BOOST_TEST(is_told);
}

BOOST_AUTO_TEST_CASE(a_notice_resumes_all_who_wait_and_those_who_come_later_at_once) {
  Notice notice(loop);
  std::string order;
  run([&] -> Async<> {
    go(note_after(notice, order, 'a'));
    go(note_after(notice, order, 'b'));
    co_await let_work(1);
    BOOST_TEST(order == "");
    BOOST_TEST(!notice.is_given());
    notice.give();
    BOOST_TEST(notice.is_given());
    BOOST_TEST(order == "");  // not within give()
    go(note_after(notice, order, 'c'));
    BOOST_TEST(order == "c");
    co_await let_work(1);
    BOOST_TEST(order == "cab");
    notice.give();
    co_await let_work(1);
    BOOST_TEST(order == "cab");
  });
}

BOOST_AUTO_TEST_CASE(a_gate_lets_one_in_after_another_in_the_order_in_which_they_came) {
  Gate gate(loop);
  Notice first(loop), second(loop), third(loop);
  std::string order;
  run([&] -> Async<> {
    go(note_in(gate, first, order, 'a'));
    go(note_in(gate, second, order, 'b'));
    go(note_in(gate, third, order, 'c'));
    third.give();
    second.give();
    co_await let_work();
    BOOST_TEST(order == "a");
    first.give();
    co_await let_work();
    BOOST_TEST(order == "aAbBcC");
  });
}

BOOST_AUTO_TEST_CASE(who_comes_while_the_gate_is_handed_over_does_not_overtake) {
  Gate gate(loop);
  Notice first(loop), others(loop);
  std::string order;
  run([&] -> Async<> {
    others.give();
    {
      const Gate::Pass pass = co_await gate.enter();
      go(note_in(gate, others, order, 'a'));
    }
    go(note_in(gate, others, order, 'b'));  // the posted resumption of `a` has not come yet
    BOOST_TEST(order == "");
    co_await let_work();
    BOOST_TEST(order == "aAbB");
  });
}

BOOST_AUTO_TEST_CASE(a_pass_that_was_moved_opens_the_gate_once) {
  Gate gate(loop);
  Notice given(loop);
  std::string order;
  run([&] -> Async<> {
    given.give();
    {
      Gate::Pass pass = co_await gate.enter();
      {
        const Gate::Pass moved = std::move(pass);
        go(note_in(gate, given, order, 'a'));
      }
      co_await let_work();
      BOOST_TEST(order == "aA");
      const Gate::Pass again = co_await gate.enter();
      go(note_in(gate, given, order, 'b'));
      co_await let_work();
      BOOST_TEST(order == "aA");
    }
    co_await let_work();
    BOOST_TEST(order == "aAbB");
  });
}

BOOST_AUTO_TEST_CASE(a_descriptor_is_ready_within_the_time) {
  const linux::Pipe pipe = must(linux::make_pipe());
  run([&] -> Async<> {
    loop.after(5ms, [&] { must(linux::write_all(pipe.writer, "x")); });
    const bool is_ready = co_await is_ready_within(loop, pipe.reader, EPOLLIN, kHangSeconds * 1s);
    BOOST_TEST(is_ready);
    const bool is_ready_again =
        co_await is_ready_within(loop, pipe.reader, EPOLLIN, kHangSeconds * 1s);
    BOOST_TEST(is_ready_again);
  });
}

BOOST_AUTO_TEST_CASE(a_descriptor_that_is_not_ready_in_time_is_not_watched_any_more) {
  const linux::Pipe pipe = must(linux::make_pipe());
  run([&] -> Async<> {
    const auto begin = Loop::Clock::now();
    const bool is_ready = co_await is_ready_within(loop, pipe.reader, EPOLLIN, 10ms);
    BOOST_TEST(!is_ready);
    BOOST_TEST((Loop::Clock::now() - begin >= 10ms));
    must(linux::write_all(pipe.writer, "x"));
    co_await let_work();
    must(loop.watch(pipe.reader, EPOLLIN, [](std::uint32_t) {}));
    loop.forget(pipe.reader);
    const bool has_time = co_await is_ready_within(loop, pipe.writer, 0, -1s);
    BOOST_TEST(!has_time);
  });
}

BOOST_AUTO_TEST_SUITE_END()
