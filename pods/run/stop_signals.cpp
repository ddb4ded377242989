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

int StopSignals::count() const {
  int requests = 0;
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal)
    if (signal.ssi_signo != SIGCHLD) ++requests;
  return requests;
}

Result<void> StopSignals::check() const {
  if (count() == 0) return {};
  return refuse("a signal has ended the start of the pod");
}

}  // namespace ocirun::pods
