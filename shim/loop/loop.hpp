#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "shim/loop/async.hpp"

namespace ocirun::shim {

/// The event loop of the shim: calls functions when descriptors are ready, when times come, and
/// when posted. One thread.
class Loop {
 public:
  using Clock = std::chrono::steady_clock;
  /// Gets the events of epoll_wait(2).
  using Ready = std::function<void(std::uint32_t events)>;

  /// Errors: EMFILE, ENFILE, ENOMEM.
  static Result<Loop> make();

  /// Calls `ready` whenever the descriptor has one of `events` (EPOLLIN, EPOLLOUT; with EPOLLET
  /// once for each change), until forget(). EPOLLERR and EPOLLHUP always call it. Errors: ENOSPC,
  /// ENOMEM; EPERM for a regular file, which is always ready.
  Result<void> watch(Fd descriptor, std::uint32_t events, Ready ready);
  /// Changes the events of a watched descriptor.
  Result<void> change(Fd descriptor, std::uint32_t events);
  /// To be called before the descriptor is closed. The function that watch() got is not called any
  /// more, also for events that have come already.
  void forget(Fd descriptor);

  /// Calls `what` from run(), before the loop waits again.
  void post(std::function<void()> what) { posted_.push_back(std::move(what)); }
  void post(std::coroutine_handle<> coroutine) {
    post([coroutine] { coroutine.resume(); });
  }
  using Timers = std::multimap<Clock::time_point, std::function<void()>>;
  /// Calls `what` once after `delay`.
  Timers::iterator after(Clock::duration delay, std::function<void()> what) {
    return timers_.emplace(Clock::now() + delay, std::move(what));
  }
  /// Takes back a call that has not come yet.
  void cancel(Timers::iterator timer) { timers_.erase(timer); }

  /// Works until stop(). Errors: those of epoll_wait(2).
  Result<void> run();
  void stop() { stopped_ = true; }

 private:
  explicit Loop(UniqueFd epoll) : epoll_(std::move(epoll)) {}
  void call_posted();
  void call_due();
  int wait_time() const;  // ms, -1 without a limit
  Result<void> wait();

  struct Watch {
    std::uint64_t serial;  // tells a descriptor from an earlier one of the same number
    Ready ready;
  };
  UniqueFd epoll_;
  std::unordered_map<int, Watch> watches_;
  std::uint64_t next_serial_ = 0;
  std::deque<std::function<void()>> posted_;
  Timers timers_;
  bool stopped_ = false;
};

/// Awaits a time: `co_await Pause{loop, 1s}`.
struct Pause {
  Loop& loop;
  Loop::Clock::duration length;
  static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) const {
    loop.after(length, [waiting] { waiting.resume(); });
  }
  static void await_resume() noexcept {}
};

/// Something that happens once. Every coroutine that awaits the notice goes on when it is given, or
/// at once if it was given before.
class Notice {
 public:
  explicit Notice(Loop& loop) : loop_(&loop) {}
  // A copy would wait for ever. g++ 12 makes one of `co_await *pointer`, which this refuses.
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;
  bool is_given() const { return given_; }
  /// Does nothing if the notice was given before.
  void give();

  bool await_ready() const noexcept { return given_; }
  void await_suspend(std::coroutine_handle<> waiting) { waiting_.push_back(waiting); }
  static void await_resume() noexcept {}

 private:
  Loop* loop_;
  bool given_ = false;
  std::vector<std::coroutine_handle<>> waiting_;
};

/// A lock for coroutines, which get it in the order in which they asked:
/// `const Gate::Pass pass = co_await gate.enter();`. The gate must outlive the passes.
class Gate {
 public:
  explicit Gate(Loop& loop) : loop_(&loop) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  class Pass {
   public:
    explicit Pass(Gate* gate) : gate_(gate) {}
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->leave();
    }

   private:
    Gate* gate_;
  };

  struct Entry {
    Gate& gate;
    bool await_ready() const noexcept { return !std::exchange(gate.taken_, true); }
    void await_suspend(std::coroutine_handle<> waiting) const { gate.waiting_.push_back(waiting); }
    Pass await_resume() const noexcept { return Pass(&gate); }
  };
  Entry enter() { return Entry{*this}; }

 private:
  void leave();

  Loop* loop_;
  bool taken_ = false;
  std::deque<std::coroutine_handle<>> waiting_;
};

/// Waits until the descriptor has one of `events` (EPOLLIN, EPOLLOUT), at most for `patience`.
/// Returns whether it has.
Async<bool> is_ready_within(Loop& loop, Fd descriptor, std::uint32_t events,
                            Loop::Clock::duration patience);

}  // namespace ocirun::shim
