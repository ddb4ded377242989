#include "runtime/foreground.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "runtime/relay.hpp"
#include "runtime/signals.hpp"

namespace ocirun::runtime {
namespace {

/// Our own terminal in raw mode, so that every key reaches the container's; restored by the
/// destructor.
class RawTerminal {
 public:
  explicit RawTerminal(bool wanted) {
    termios state{};
    if (!wanted || ::tcgetattr(STDIN_FILENO, &state) != 0) return;
    saved_ = state;
    ::cfmakeraw(&state);
    state.c_oflag |= OPOST;  // newlines still return the carriage: the container's pty does not
    ::tcsetattr(STDIN_FILENO, TCSANOW, &state);
  }
  ~RawTerminal() {
    if (saved_) ::tcsetattr(STDIN_FILENO, TCSANOW, &*saved_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  std::optional<termios> saved_;
};

void copy_window_size(Fd terminal) {
  winsize size{};
  if (::ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0) ::ioctl(terminal.value, TIOCSWINSZ, &size);
}

void forward(const linux::Child& child, Fd terminal, int signal) {
  if (signal == SIGWINCH && terminal.value >= 0) return copy_window_size(terminal);
  // What the kernel tells us about our own children and sockets is not for the container.
  if (signal == SIGCHLD || signal == SIGPIPE || signal == SIGURG) return;
  ::kill(child.pid, signal);  // our child and not collected yet
}

// Non-blocking; other children that came to us are collected on the way.
std::optional<int> collect(int pid) {
  std::optional<int> status_of_child;
  int status = 0;
  for (int ended = ::waitpid(-1, &status, WNOHANG | __WALL); ended > 0;
       ended = ::waitpid(-1, &status, WNOHANG | __WALL))
    if (ended == pid) status_of_child = status;
  return status_of_child;
}

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
  const RawTerminal raw(terminal.value >= 0);
  // A change of size that came while the container was made is one of those signals that were
  // taken.
  if (terminal.value >= 0) copy_window_size(terminal);
  Relay relay(terminal, Fd{STDIN_FILENO}, Fd{STDOUT_FILENO});
  for (;;) {
    if (const auto status = collect(child.pid)) {
      // What came too late for the container is not meant for its poststop hooks.
      while (Signals::take_any() != 0) {
      }
      relay.drain();
      if (notifications != nullptr) notifications->carry();  // its last words
      return exit_code(*status);
    }
    const auto wanted = relay.wanted();
    const Fd notified = notifications != nullptr ? notifications->descriptor() : Fd{};
    std::array<pollfd, 2 + Relay::kWatched> watched{pollfd{Signals::descriptor().value, POLLIN, 0},
                                                    pollfd{notified.value, POLLIN, 0}, wanted[0],
                                                    wanted[1], wanted[2]};
    if (::poll(watched.data(), watched.size(), relay.poll_limit()) < 0) {
      if (errno == EINTR) continue;
      return fail(errno, "wait for the container");
    }
    if (watched[0].revents != 0)
      for (int signal = Signals::take_any(); signal != 0; signal = Signals::take_any())
        forward(child, terminal, signal);
    if (watched[1].revents != 0) notifications->carry();
    relay.carry({watched[2], watched[3], watched[4]});
  }
}

}  // namespace ocirun::runtime
