#pragma once

// A loop for one test, whose body is a coroutine. An exception must not leave a coroutine, so that
// these bodies use BOOST_TEST, not BOOST_REQUIRE.

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>
#include <utility>

#include "shim/loop/loop.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

namespace ocirun::test {

struct LoopScene {
  shim::Loop loop = must(shim::Loop::make());

  /// Runs the loop until `work`, a function that returns an Async<>, has ended. Once for each loop.
  template <typename Work>
  void run(Work work) {
    bool has_ended = false;
    shim::go(end_loop_after(work(), has_ended));
    loop.after(std::chrono::seconds(kHangSeconds), [this] { loop.stop(); });
    must(loop.run());
    BOOST_REQUIRE_MESSAGE(has_ended, "the test hangs");
  }
  /// Like comes_true(), while the loop works.
  shim::Async<bool> comes(std::function<bool()> condition) {
    const auto end = shim::Loop::Clock::now() + std::chrono::seconds(kHangSeconds);
    while (!condition()) {
      if (shim::Loop::Clock::now() > end) co_return false;
      const shim::Pause pause{loop, std::chrono::milliseconds(2)};
      co_await pause;
    }
    co_return true;
  }
  /// Lets the loop work for `rounds` rounds of events.
  shim::Async<> let_work(int rounds = 5) {
    for (int i = 0; i < rounds; ++i) {
      const shim::Pause pause{loop, std::chrono::milliseconds(1)};
      co_await pause;
    }
  }

 private:
  shim::Async<> end_loop_after(shim::Async<> work, bool& has_ended) {
    co_await std::move(work);
    has_ended = true;
    loop.stop();
  }
};

}  // namespace ocirun::test
