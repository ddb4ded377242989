#include "shim/loop/loop.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace ocirun::shim {
namespace {

// epoll_data holds the number of the descriptor, and the low bits of its serial.
std::uint64_t token_of(int descriptor, std::uint64_t serial) {
  return serial << 32 | static_cast<std::uint32_t>(descriptor);
}

}  // namespace

Result<Loop> Loop::make() {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return fail(errno, "make an epoll descriptor");
  return Loop(std::move(epoll));
}

Result<void> Loop::watch(Fd descriptor, std::uint32_t events, Ready ready) {
  const std::uint64_t serial = ++next_serial_;
  epoll_event event{.events = events, .data = {.u64 = token_of(descriptor.value, serial)}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor.value, &event) != 0)
    return fail(errno, "watch descriptor {}", descriptor.value);
  watches_.insert_or_assign(descriptor.value, Watch{serial, std::move(ready)});
  return {};
}

Result<void> Loop::change(Fd descriptor, std::uint32_t events) {
  const auto watch = watches_.find(descriptor.value);
  if (watch == watches_.end()) return fail(ENOENT, "watch descriptor {}", descriptor.value);
  epoll_event event{.events = events,
                    .data = {.u64 = token_of(descriptor.value, watch->second.serial)}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, descriptor.value, &event) != 0)
    return fail(errno, "watch descriptor {}", descriptor.value);
  return {};
}

void Loop::forget(Fd descriptor) {
  if (watches_.erase(descriptor.value) != 0)
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor.value, nullptr);
}

Result<void> Loop::run() {
  while (!stopped_) {
    call_posted();
    call_due();
    if (!stopped_) OCIRUN_TRY(wait());
  }
  return {};
}

// Calls the functions that were posted so far. Functions that they post are called in the next
// round, so that descriptors get their turn.
void Loop::call_posted() {
  for (std::size_t left = posted_.size(); left != 0; --left) {
    const auto what = std::move(posted_.front());
    posted_.pop_front();
    what();
  }
}

void Loop::call_due() {
  const auto now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const auto what = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    what();
  }
}

int Loop::wait_time() const {
  if (!posted_.empty()) return 0;
  if (timers_.empty()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

Result<void> Loop::wait() {
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), wait_time());
  if (count < 0 && errno != EINTR) return fail(errno, "wait for events");
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events.at(static_cast<std::size_t>(i));
    const auto descriptor = static_cast<int>(event.data.u64 & 0xffffffff);
    const auto watch = watches_.find(descriptor);
    // The function for an earlier event of this round may have closed the descriptor, and the
    // number may belong to another open file now.
    if (watch == watches_.end() || token_of(descriptor, watch->second.serial) != event.data.u64)
      continue;
    const Ready ready = watch->second.ready;  // a copy: the function may call forget()
    ready(event.events);
  }
  return {};
}

void Notice::give() {
  if (std::exchange(given_, true)) return;
  for (const auto waiting : std::exchange(waiting_, {})) loop_->post(waiting);
}

Async<bool> is_ready_within(Loop& loop, Fd descriptor, std::uint32_t events,
                            Loop::Clock::duration patience) {
  Notice told(loop);
  bool is_ready = false, is_late = false;
  const auto watched = loop.watch(descriptor, events, [&](std::uint32_t) {
    is_ready = true;
    told.give();
  });
  if (!watched) co_return false;
  const auto timer = loop.after(patience, [&] {
    is_late = true;
    told.give();
  });
  co_await told;
  if (!is_late) loop.cancel(timer);
  loop.forget(descriptor);
  co_return is_ready;
}

void Gate::leave() {
  if (waiting_.empty()) {
    taken_ = false;
    return;
  }
  loop_->post(waiting_.front());
  waiting_.pop_front();
}

}  // namespace ocirun::shim
