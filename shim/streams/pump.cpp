#include "shim/streams/pump.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <utility>

namespace ocirun::shim {
namespace {

constexpr std::size_t kMostSpliced = std::size_t{1} << 20;
constexpr std::size_t kMostPending = 4096;
// The steps that move() makes before other streams get their turn.
constexpr int kStepsPerTurn = 16;

bool is_ready(Fd descriptor, short events) {
  pollfd entry{descriptor.value, events, 0};
  return ::poll(&entry, 1, 0) == 1;
}

}  // namespace

Pump::Pump(Loop& loop, UniqueFd source, UniqueFd sink, std::function<void()> ended)
    : loop_(loop), source_(std::move(source)), sink_(std::move(sink)), ended_(std::move(ended)) {}

void Pump::start() { wait_for(Waits::kForSource); }

void Pump::move() {
  for (int step = 0; step < kStepsPerTurn; ++step) {
    const Moved moved = !pending_.empty() ? write_pending()
                        : splices_        ? splice_once()
                                          : copy_once();
    if (moved == Moved::kEnd) return end();
    if (moved == Moved::kSome) continue;
    // A splice that moves nothing does not say whether the source is empty or the sink full.
    const bool sink_is_full = !pending_.empty() || (splices_ && is_ready(source_, POLLIN));
    return wait_for(sink_is_full ? Waits::kForSink : Waits::kForSource);
  }
  if (!pending_.empty()) wait_for(Waits::kForSink);
}

// splice(2) refuses a terminal, and a file that is opened for appending.
Pump::Moved Pump::splice_once() {
  const ssize_t count = ::splice(source_.get(), nullptr, sink_.get(), nullptr, kMostSpliced,
                                 SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  if (count > 0) return Moved::kSome;
  if (count == 0) return Moved::kEnd;
  if (errno == EINTR) return Moved::kSome;
  if (errno == EAGAIN) return Moved::kNothing;
  if (errno == EPIPE) return Moved::kEnd;
  splices_ = false;
  return Moved::kSome;
}

// The master of a terminal gives EIO when no process has the terminal open any more.
Pump::Moved Pump::copy_once() {
  std::array<char, kMostPending> buffer;
  const ssize_t count = ::read(source_.get(), buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return Moved::kSome;
  if (count < 0 && errno == EAGAIN) return Moved::kNothing;
  if (count <= 0) return Moved::kEnd;
  pending_.assign(buffer.data(), static_cast<std::size_t>(count));
  return write_pending();
}

// Drops bytes that a full disk or a broken file does not take, so that the container goes on.
Pump::Moved Pump::write_pending() {
  const ssize_t count = ::write(sink_.get(), pending_.data(), pending_.size());
  if (count < 0 && errno == EINTR) return Moved::kSome;
  if (count < 0 && errno == EAGAIN) return Moved::kNothing;
  if (count < 0 && (errno == EPIPE || (errno == EIO && ::isatty(sink_.get()) == 1)))
    return Moved::kEnd;
  pending_.erase(0, count < 0 ? pending_.size() : static_cast<std::size_t>(count));
  return Moved::kSome;
}

// A regular file cannot be watched (EPERM), because it is always ready.
void Pump::wait_for(Waits which) {
  if (which == waits_) return;
  if (waits_ != Waits::kNot) loop_.forget(waits_ == Waits::kForSink ? sink_ : source_);
  waits_ = which;
  const bool is_sink = which == Waits::kForSink;
  const auto watched = loop_.watch(is_sink ? sink_ : source_, is_sink ? EPOLLOUT : EPOLLIN,
                                   [this](std::uint32_t) { move(); });
  if (watched) return;
  waits_ = Waits::kNot;
  if (watched.error().number() != EPERM) return end();
  loop_.post([alive = std::weak_ptr(alive_), this] {
    if (alive.lock()) move();
  });
}

void Pump::end() {
  close();
  loop_.post(std::exchange(ended_, [] {}));
}

void Pump::close() {
  if (waits_ != Waits::kNot) loop_.forget(waits_ == Waits::kForSink ? sink_ : source_);
  waits_ = Waits::kNot;
  source_.reset();
  sink_.reset();
}

}  // namespace ocirun::shim
