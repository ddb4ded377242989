#include "runtime/foreground/attend.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "runtime/base/signals.hpp"
#include "runtime/foreground/relay.hpp"

namespace ocirun::runtime {
namespace {

// Handles a signal to ocirun: most signals are forwarded to the child. If the container has a
// terminal, the stop signals stop ocirun alone, because the container's terminal has its own jobs.
void receive(int signal, const linux::Child& child, Fd terminal, OwnTerminal& own) {
  if (terminal.value >= 0) {
    if (signal == SIGWINCH) return copy_window_size(terminal);
    if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) return own.stop_by(signal);
    if (signal == SIGCONT) own.look_afresh();
  }
  // These signals of the kernel are about ocirun's own children and sockets.
  if (signal == SIGCHLD || signal == SIGPIPE || signal == SIGURG) return;
  ::kill(child.pid, signal);  // no other process can have the pid before collect()
}

// Collects all children that have ended, also adopted ones. Does not block. Returns the status of
// `pid`, if that child has ended.
std::optional<int> collect(int pid) {
  std::optional<int> status_of_child;
  int status = 0;
  for (int ended = ::waitpid(-1, &status, WNOHANG | __WALL); ended > 0;
       ended = ::waitpid(-1, &status, WNOHANG | __WALL))
    if (ended == pid) status_of_child = status;
  return status_of_child;
}

// The shorter of two timeouts for poll(2), where -1 means none.
int earlier(int a, int b) { return a < 0 || b < 0 ? std::max(a, b) : std::min(a, b); }

int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void prepare_relay(Fd terminal) {
  copy_window_size(terminal);
  termios state{};
  if (::tcgetattr(terminal.value, &state) != 0) return;
  state.c_oflag &= ~static_cast<tcflag_t>(ONLCR);
  ::tcsetattr(terminal.value, TCSANOW, &state);
}

Result<int> attend(const linux::Child& child, Fd terminal, Notifications* notifications) {
  OwnTerminal own(terminal);
  Relay relay(terminal, Fd{STDIN_FILENO}, Fd{STDOUT_FILENO});
  for (;;) {
    if (const auto status = collect(child.pid)) {
      // Drops signals that came too late for the container: they must not interrupt the poststop
      // hooks.
      while (Signals::take_any() != 0) {
      }
      relay.drain();
      if (notifications != nullptr) notifications->carry();  // datagrams that came before the end
      return exit_code(*status);
    }
    own.look();
    relay.hold_input(terminal.value >= 0 && !own.is_ours());
    const auto wanted = relay.wanted();
    const Fd notified = notifications != nullptr ? notifications->descriptor() : Fd{};
    std::array<pollfd, 2 + Relay::kWatched> watched{pollfd{Signals::descriptor().value, POLLIN, 0},
                                                    pollfd{notified.value, POLLIN, 0}, wanted[0],
                                                    wanted[1], wanted[2]};
    if (::poll(watched.data(), watched.size(), earlier(relay.poll_limit(), own.poll_limit())) < 0) {
      if (errno == EINTR) continue;
      return fail(errno, "wait for the container");
    }
    if (watched[0].revents != 0) {
      for (int signal = Signals::take_any(); signal != 0; signal = Signals::take_any())
        receive(signal, child, terminal, own);
      watched[3].revents = 0;  // another process may have read the input while ocirun was stopped
    }
    if (watched[1].revents != 0) notifications->carry();
    relay.carry({watched[2], watched[3], watched[4]});
    if (own.is_ours() && relay.input_is_held()) own.lose();
  }
}

}  // namespace ocirun::runtime
