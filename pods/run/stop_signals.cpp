#include "pods/run/stop_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace ocirun::pods {

Result<StopSignals> StopSignals::block() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD})
    ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  UniqueFd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail(errno, "wait for signals");
  return StopSignals(std::move(fd));
}

Result<void> ask_to_stop(const linux::ProcessIdentity& supervisor, std::chrono::seconds grace) {
  return linux::queue_signal(supervisor, SIGTERM, static_cast<int>(grace.count()));
}

StopSignals::Requests StopSignals::take() const {
  Requests requests;
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
    if (signal.ssi_signo == SIGCHLD) continue;
    ++requests.count;
    if (signal.ssi_code == SI_QUEUE && signal.ssi_int >= 0)
      requests.grace = std::chrono::seconds(signal.ssi_int);
  }
  return requests;
}

Result<void> StopSignals::check() const {
  if (take().count == 0) return {};
  return refuse("a signal has ended the start of the pod");
}

}  // namespace ocirun::pods
