#include "runtime/foreground/relay.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "runtime/base/signals.hpp"

namespace ocirun::runtime {
namespace {

// More than the buffers of a pty hold: 64 KiB, and 4 KiB in the line discipline.
constexpr std::size_t kDrained = 256 * 1024;

// A Relay assumes that a program waits for a key if the program has printed nothing for this time.
constexpr std::chrono::milliseconds kKeySilence{100};

// Opens the file behind `fd` once more, with O_NONBLOCK. On the descriptor of the caller,
// O_NONBLOCK would reach the caller's shell, which shares the open file description.
UniqueFd open_again(Fd fd, int access) {
  auto again = linux::sys::open(linux::host_fd_link(fd).c_str(), access | O_NONBLOCK | O_NOCTTY);
  return again ? *std::move(again) : UniqueFd();
}

// Opens a terminal as non-blocking input. Another process of the terminal may read the keys that
// poll(2) reported, and a blocking read would then wait.
UniqueFd open_input(Fd input) {
  return ::isatty(input.value) == 1 ? open_again(input, O_RDONLY) : UniqueFd();
}

// Opens a terminal or a pipe as non-blocking output. A blocking write to a terminal waits until all
// bytes are taken, also if poll(2) called the terminal writable.
UniqueFd open_output(Fd output) {
  const auto info = linux::sys::fstat(output);
  if (!info || !(S_ISCHR(info->st_mode) || S_ISFIFO(info->st_mode))) return UniqueFd();
  return open_again(output, O_WRONLY);
}

}  // namespace

Relay::Relay(Fd terminal, Fd input, Fd output)
    : terminal_(terminal), input_(input), output_(output) {
  if (terminal.value < 0) {
    input_ = output_ = Fd{};
    return;
  }
  ignore(linux::set_nonblocking(terminal));
  own_input_ = open_input(input);
  if (own_input_) input_ = own_input_;
  own_output_ = open_output(output);
  if (own_output_) output_ = own_output_;
}

std::array<pollfd, Relay::kWatched> Relay::wanted() const {
  const auto watch = [](Fd fd, bool reads, bool writes) {
    const short events = static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
    // -1, because poll(2) reports POLLHUP of a descriptor also without any requested event.
    return pollfd{events == 0 ? -1 : fd.value, events, 0};
  };
  return {watch(terminal_, shown_.empty(), !typed_.empty()),
          watch(input_, typed_.empty() && !input_is_held_, false),
          watch(output_, false, !shown_.empty())};
}

int Relay::poll_limit() const { return end_is_owed_ ? static_cast<int>(kKeySilence.count()) : -1; }

Relay::Side Relay::read_some(Fd from, Pending& pending) {
  const ssize_t count = ::read(from.value, pending.bytes.data(), pending.bytes.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return Side::kOpen;
  if (count <= 0) return Side::kClosed;  // EIO: the last process has closed the pty
  pending.begin = 0;
  pending.end = static_cast<std::size_t>(count);
  return Side::kOpen;
}

Relay::Side Relay::write_some(Fd to, Pending& pending) {
  const char* from = pending.bytes.data() + pending.begin;
  const std::size_t size = pending.end - pending.begin;
  ssize_t count = ::send(to.value, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0 && errno == ENOTSOCK) count = ::write(to.value, from, size);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return Side::kOpen;
  if (count < 0) return Side::kClosed;
  pending.begin += static_cast<std::size_t>(count);
  return Side::kOpen;
}

void Relay::read_input() {
  if (read_some(input_, typed_) == Side::kOpen) return;
  // EIO from the session's terminal means that another job has the foreground; the input has not
  // ended.
  input_is_held_ = errno == EIO && ::tcgetpgrp(input_.value) >= 0;
  if (input_is_held_) return;
  input_ = Fd{};
  input_has_ended_ = true;
}

void Relay::write_output() {
  if (write_some(output_, shown_) == Side::kClosed) output_ = Fd{};
}

void Relay::carry(const std::array<pollfd, kWatched>& ready) {
  if (ready[kOutput].revents != 0) write_output();
  if (output_.value < 0) shown_.begin = shown_.end;
  if (ready[kInput].revents != 0) read_input();
  const bool may_read = (ready[kTerminal].revents & ~POLLOUT) != 0 && shown_.empty();
  if (may_read && read_some(terminal_, shown_) == Side::kClosed) close_terminal();
  if (may_read) heard_ = Clock::now();
  // VEOF is written after the read from the pty: if the read has returned a prompt, the program has
  // already left ICANON mode.
  const bool may_have_turned = end_typed_ == EndTyped::kNo || end_is_owed_ || may_read;
  if (input_has_ended_ && typed_.empty() && may_have_turned) type_end_of_file();
  if (!typed_.empty() && write_some(terminal_, typed_) == Side::kClosed) close_terminal();
}

// Called when the input, a pipe or /dev/null, has ended. A pty has no end of file: the program sees
// the end when VEOF is written to the master. In ICANON mode a line that is not complete needs VEOF
// twice. A shell that edits its lines reads single keys, and takes VEOF as the end too. But such a
// shell changes to ICANON mode for each command, and loses input that arrives during the change. So
// without ICANON, VEOF is written only after the program has printed nothing for kKeySilence. After
// a change of the mode, VEOF is written again.
void Relay::type_end_of_file() {
  termios state{};
  end_is_owed_ = false;
  if (::tcgetattr(terminal_.value, &state) != 0) return;
  const EndTyped now = (state.c_lflag & ICANON) != 0 ? EndTyped::kForLines : EndTyped::kForKeys;
  if (end_typed_ == now) return;
  if (now == EndTyped::kForKeys && Clock::now() < heard_ + kKeySilence) {
    end_is_owed_ = true;
    return;
  }
  end_typed_ = now;
  const auto end_of_file = static_cast<char>(state.c_cc[VEOF]);
  const char last = typed_.end == 0 ? '\n' : typed_.bytes[typed_.end - 1];
  const bool at_line_begin = last == '\n' || last == end_of_file;
  typed_.bytes.fill(end_of_file);
  typed_.begin = 0;
  typed_.end = at_line_begin || now == EndTyped::kForKeys ? 1 : 2;
}

void Relay::close_terminal() {
  terminal_ = input_ = Fd{};
  typed_.begin = typed_.end;
}

void Relay::drain() {
  for (std::size_t left = kDrained; output_.value >= 0;) {
    if (shown_.empty()) {
      if (terminal_.value < 0 || left == 0) return;
      if (read_some(terminal_, shown_) == Side::kClosed || shown_.empty()) return;
      left -= std::min(left, shown_.end);
    }
    std::array<pollfd, 2> watched{pollfd{output_.value, POLLOUT, 0},
                                  pollfd{Signals::descriptor().value, POLLIN, 0}};
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (watched[1].revents != 0 && !Signals::check()) return;
    if (watched[0].revents != 0) write_output();
  }
}

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};

bool is_in_background() {
  const pid_t foreground = ::tcgetpgrp(STDIN_FILENO);
  if (foreground < 0) return false;  // not the terminal of this session
  const pid_t own = ::getpgrp();
  if (own != 0) return foreground != own;
  // Both group ids are 0 if the groups are not in this pid namespace. A read of 0 bytes takes no
  // input. In the background, the read fails with EIO.
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
  // With SIGTTOU unblocked, the kernel stops this process if this process writes in the background
  // (stty tostop), or loses the foreground while changing settings. The kernel cannot stop the
  // first process of a pid namespace, and would restart the system call without end.
  if (::getpid() != 1) Signals::unblock(SIGTTOU);
  look();
}

// Blocks SIGTTOU again: a warning on stderr must not stop this process before this process has
// removed the container.
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
