#include "runtime/foreground/own_terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "runtime/base/signals.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};

bool is_in_background() {
  const pid_t foreground = ::tcgetpgrp(STDIN_FILENO);
  if (foreground < 0) return false;  // not the terminal of our session
  const pid_t own = ::getpgrp();
  if (own != 0) return foreground != own;
  // Both are 0 if this pid namespace does not contain the groups. Then a read of 0 bytes, which
  // takes no input, fails with EIO in the background.
  return ::read(STDIN_FILENO, nullptr, 0) < 0 && errno == EIO;
}

bool are_same(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag &&
         a.c_lflag == b.c_lflag && std::ranges::equal(a.c_cc, b.c_cc);
}

}  // namespace

void copy_window_size(Fd terminal) {
  winsize size{};
  if (::ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0) ::ioctl(terminal.value, TIOCSWINSZ, &size);
}

OwnTerminal::OwnTerminal(Fd container) : container_(container) {
  if (container.value < 0) return;
  // SIGTTOU unblocked: the kernel stops this process when it writes in the background (stty
  // tostop), or loses the foreground while it changes settings. The kernel cannot stop the first
  // process of a pid namespace: it would restart the system call without end.
  if (::getpid() != 1) Signals::unblock(SIGTTOU);
  look();
}

// SIGTTOU is blocked again: a warning on stderr must not stop this process before it has removed
// the container.
OwnTerminal::~OwnTerminal() {
  give_back();
  if (container_.value >= 0) Signals::block(SIGTTOU);
}

void OwnTerminal::look() {
  if (container_.value < 0 || is_ours_ || Clock::now() < next_look_) return;
  next_look_ = Clock::now() + kBetweenLooks;
  if (is_in_background()) return;
  is_ours_ = true;
  make_raw();
  copy_window_size(container_);
}

int OwnTerminal::poll_limit() const {
  return container_.value < 0 || is_ours_ ? -1 : static_cast<int>(kBetweenLooks.count());
}

void OwnTerminal::look_afresh() {
  is_ours_ = false;
  next_look_ = {};
  look();
}

void OwnTerminal::lose() {
  is_ours_ = false;
  next_look_ = Clock::now() + kBetweenLooks;
}

void OwnTerminal::stop_by(int signal) {
  give_back();
  Signals::obey(signal);
  look_afresh();
}

void OwnTerminal::make_raw() {
  termios state{};
  if (::tcgetattr(STDIN_FILENO, &state) != 0) return;
  // After a SIGSTOP the terminal may still have the raw settings, which must not be saved.
  if (!saved_ || !are_same(state, raw_)) saved_ = state;
  ::cfmakeraw(&state);
  state.c_oflag |= OPOST;  // the terminal still translates newlines; the container's pty does not
  ::tcsetattr(STDIN_FILENO, TCSANOW, &state);
  ::tcgetattr(STDIN_FILENO, &raw_);
}

void OwnTerminal::give_back() {
  if (saved_ && is_ours_ && !is_in_background()) ::tcsetattr(STDIN_FILENO, TCSANOW, &*saved_);
  is_ours_ = false;
}

}  // namespace ocirun::runtime
