#include "pods/cli/display.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>

#include "linux/files/procfs.hpp"

namespace ocirun::pods::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{100};

/// As many whole lines as a pipe with room takes without a wait (PIPE_BUF); a part of a line that
/// is longer.
std::string_view piece_of(std::string_view lines) {
  if (lines.size() <= PIPE_BUF) return lines;
  const std::size_t end = lines.rfind('\n', PIPE_BUF - 1);
  return lines.substr(0, end == std::string_view::npos ? PIPE_BUF : end + 1);
}

}  // namespace

// O_NONBLOCK belongs to the open file, which the caller's shell shares: so the terminal or pipe is
// opened again. A file is never waited for, and would be written from its beginning.
Display::Display(Fd out) : out_(out) {
  struct stat status{};
  if (::fstat(out.value, &status) != 0) return;
  is_socket_ = S_ISSOCK(status.st_mode);
  if (!S_ISCHR(status.st_mode) && !S_ISFIFO(status.st_mode)) return;
  const auto procfs = linux::Procfs::of_host();
  if (!procfs) return;
  auto own = procfs->reopen(out, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  if (own) own_ = *std::move(own);
}

/// Returns false if the reader does not take all of `text` until `deadline`. What the reader took
/// decides is_torn_.
bool Display::write_within(std::string_view text, Clock::time_point deadline) {
  const int out = own_ ? own_.get() : out_.value;
  while (!text.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd watched{out, POLLOUT, 0};
    const int limit = static_cast<int>(std::max<std::int64_t>(left, 0));
    if (::poll(&watched, 1, limit) != 1) return false;
    const ssize_t count = is_socket_
                              ? ::send(out, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                              : ::write(out, text.data(), text.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR) && left > 0) continue;
    if (count <= 0) return false;
    is_torn_ = text[static_cast<std::size_t>(count) - 1] != '\n';
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void Display::print(std::string_view lines) {
  // Waits once for a reader that is slower than the programs, and not again while the reader is
  // stuck.
  const Clock::time_point deadline = Clock::now() + (is_stuck_ ? Clock::duration() : kPatience);
  is_stuck_ = true;
  if (is_torn_ && !write_within("\n", deadline)) return;
  while (!lines.empty()) {
    const std::string_view piece = piece_of(lines);
    if (!write_within(piece, deadline)) return;
    lines.remove_prefix(piece.size());
  }
  is_stuck_ = false;
}

}  // namespace ocirun::pods::cli
