#include "pods/run/supervisor_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace ocirun::pods {

Result<SupervisorSignals> SupervisorSignals::block() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGURG, SIGCHLD})
    ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  UniqueFd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail(errno, "wait for signals");
  return SupervisorSignals(std::move(fd));
}

Result<void> ask_to_stop(const linux::ProcessIdentity& supervisor, std::chrono::seconds grace) {
  return linux::queue_signal(supervisor, SIGTERM, static_cast<int>(grace.count()));
}

Result<void> ask_to_restart(const linux::ProcessIdentity& supervisor, RestartRequest request) {
  return linux::queue_signal(supervisor, SIGURG, request.restarts << 16 | request.container);
}

SupervisorSignals::Requests SupervisorSignals::take() const {
  Requests requests;
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
    if (signal.ssi_signo == SIGCHLD) continue;
    const bool has_number = signal.ssi_code == SI_QUEUE && signal.ssi_int >= 0;
    if (signal.ssi_signo == SIGURG) {
      if (has_number)
        requests.restarts.push_back(
            RestartRequest::of(static_cast<std::size_t>(signal.ssi_int & 0xFFFF),
                               static_cast<std::uint32_t>(signal.ssi_int) >> 16));
      continue;
    }
    ++requests.count;
    if (has_number) requests.grace = std::chrono::seconds(signal.ssi_int);
  }
  return requests;
}

Result<void> SupervisorSignals::check() const {
  if (take().count == 0) return {};
  return fail(ECANCELED, "a signal has ended the start of the pod");
}

}  // namespace ocirun::pods
