#include "pods/cli/display.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdint>

#include "linux/base/file_io.hpp"

namespace ocirun::pods::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{100};

/// Returns false if `out` cannot take the piece until `deadline`.
bool write_if_read(Fd out, std::string_view piece, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  pollfd watched{out.value, POLLOUT, 0};
  return ::poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) == 1 &&
         linux::write_all(out, piece);
}

/// As many lines as a pipe with room takes without a wait; of a longer line a part.
std::string_view piece_of(std::string_view lines) {
  if (lines.size() <= PIPE_BUF) return lines;
  const std::size_t end = lines.rfind('\n', PIPE_BUF - 1);
  return lines.substr(0, end == std::string_view::npos ? PIPE_BUF : end + 1);
}

}  // namespace

void Display::print(std::string_view lines) {
  // Once for a reader that is slower than the programs, and not again while it is stuck.
  const Clock::time_point deadline = Clock::now() + (is_stuck_ ? Clock::duration() : kPatience);
  is_stuck_ = true;
  if (is_torn_ && !write_if_read(out_, "\n", deadline)) return;
  is_torn_ = false;
  while (!lines.empty()) {
    const std::string_view piece = piece_of(lines);
    if (!write_if_read(out_, piece, deadline)) return;
    is_torn_ = !piece.ends_with('\n');
    lines.remove_prefix(piece.size());
  }
  is_stuck_ = false;
}

}  // namespace ocirun::pods::cli
