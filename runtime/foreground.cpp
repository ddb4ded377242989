#include "runtime/foreground.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "linux/file_io.hpp"
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

enum class Copy { kMore, kEnd };

Copy copy_some(int from, int to) {
  std::array<char, 8192> buffer;
  const ssize_t count = ::read(from, buffer.data(), buffer.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return Copy::kMore;
  if (count <= 0) return Copy::kEnd;  // EIO: the last process has closed the pty
  const auto written =
      linux::write_all(Fd{to}, std::string_view(buffer.data(), static_cast<std::size_t>(count)));
  return written ? Copy::kMore : Copy::kEnd;
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

void drain(Fd terminal) {
  ::fcntl(terminal.value, F_SETFL, O_NONBLOCK);
  std::array<char, 8192> buffer;
  for (;;) {
    const ssize_t count = ::read(terminal.value, buffer.data(), buffer.size());
    if (count <= 0) return;
    if (!linux::write_all(Fd{STDOUT_FILENO},
                          std::string_view(buffer.data(), static_cast<std::size_t>(count))))
      return;
  }
}

}  // namespace

void prepare_relay(Fd terminal) {
  copy_window_size(terminal);
  termios state{};
  if (::tcgetattr(terminal.value, &state) != 0) return;
  state.c_oflag &= ~static_cast<tcflag_t>(ONLCR);
  ::tcsetattr(terminal.value, TCSANOW, &state);
}

Result<int> attend(const linux::Child& child, Fd terminal) {
  const RawTerminal raw(terminal.value >= 0);
  enum { kSignals, kTerminal, kInput };
  std::array<pollfd, 3> watched{pollfd{Signals::descriptor().value, POLLIN, 0},
                                pollfd{terminal.value, POLLIN, 0},
                                pollfd{terminal.value >= 0 ? STDIN_FILENO : -1, POLLIN, 0}};
  for (;;) {
    if (const auto status = collect(child.pid)) {
      if (terminal.value >= 0) drain(terminal);
      return exit_code(*status);
    }
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR)
      return fail(errno, "wait for the container");
    if ((watched[kSignals].revents & POLLIN) != 0)
      for (int signal = Signals::take_any(); signal != 0; signal = Signals::take_any())
        forward(child, terminal, signal);
    if (watched[kTerminal].revents != 0 && copy_some(terminal.value, STDOUT_FILENO) == Copy::kEnd)
      watched[kTerminal].fd = -1;
    if (watched[kInput].revents != 0 && copy_some(STDIN_FILENO, terminal.value) == Copy::kEnd)
      watched[kInput].fd = -1;
  }
}

}  // namespace ocirun::runtime
