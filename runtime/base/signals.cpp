#include "runtime/base/signals.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace ocirun::runtime {
namespace {

constexpr std::array kEnding{SIGHUP, SIGINT, SIGTERM, SIGQUIT};

sigset_t set_of(int signal) {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  return set;
}

// Global, because a process has one set of blocked and pending signals.
int signal_descriptor = -1;
int ending_signal = 0;

}  // namespace

SignalsWait::SignalsWait() {
  sigset_t ending;
  ::sigemptyset(&ending);
  for (const int signal : kEnding) ::sigaddset(&ending, signal);
  ::sigprocmask(SIG_BLOCK, &ending, &before_);
}

SignalsWait::~SignalsWait() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

Result<void> Signals::capture() {
  sigset_t mask;
  ::sigfillset(&mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
    ::sigdelset(&mask, fault);
  struct sigaction hangup{};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN)
    ::sigdelset(&mask, SIGHUP);  // nohup(1): if blocked, the ignored signal would become pending
  if (::sigprocmask(SIG_SETMASK, &mask, nullptr) != 0) return fail(errno, "block signals");
  signal_descriptor = ::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signal_descriptor < 0) return fail(errno, "make a signal descriptor");
  return {};
}

Fd Signals::descriptor() { return Fd{signal_descriptor}; }

int Signals::take_any() {
  signalfd_siginfo information{};
  if (::read(signal_descriptor, &information, sizeof(information)) != sizeof(information)) return 0;
  return static_cast<int>(information.ssi_signo);
}

int Signals::take() {
  for (int signal = take_any(); signal != 0; signal = take_any())
    if (std::ranges::find(kEnding, signal) != kEnding.end()) return signal;
  return 0;
}

void Signals::unblock(int signal) {
  const sigset_t only = set_of(signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
}

void Signals::block(int signal) {
  const sigset_t only = set_of(signal);
  ::sigprocmask(SIG_BLOCK, &only, nullptr);
}

void Signals::obey(int signal) {
  const sigset_t only = set_of(signal);
  sigset_t before;
  ::raise(signal);
  ::sigprocmask(SIG_UNBLOCK, &only, &before);  // the signal takes effect here
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

Result<void> Signals::check() {
  const int signal = take();
  if (signal == 0) return {};
  if (ending_signal == 0) ending_signal = signal;
  return fail(EINTR, "stopped by signal {}", signal);
}

bool Signals::is_pending() {
  sigset_t pending;
  ::sigpending(&pending);
  return std::ranges::any_of(kEnding,
                             [&](int signal) { return ::sigismember(&pending, signal) == 1; });
}

int Signals::ended_by() { return ending_signal; }

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Result<Heard> await_word(Fd fd, Fd end, const OnSilence& on_silence, const Tick& tick) {
  const auto begin = Clock::now();
  std::array<pollfd, 3> watched{pollfd{fd.value, POLLIN, 0},
                                pollfd{Signals::descriptor().value, POLLIN, 0},
                                pollfd{end.value, POLLIN, 0}};
  for (auto next = kSilence;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(begin + next - Clock::now());
    const auto silence = std::max(left, std::chrono::milliseconds(0));
    const auto patience = tick.call ? std::min(silence, tick.period) : silence;
    const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(patience.count()));
    if (ready < 0 && errno != EINTR) return fail(errno, "wait");
    if (watched[0].revents != 0) return Heard::kWord;
    if (watched[1].revents != 0) OCIRUN_TRY(Signals::check());
    if (watched[2].revents != 0) return Heard::kEnd;
    if (ready != 0) continue;
    if (tick.call) tick.call();
    if (Clock::now() < begin + next) continue;
    OCIRUN_TRY(on_silence(next));
    next += kSilence;
  }
}

}  // namespace ocirun::runtime
