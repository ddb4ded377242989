#include "runtime/base/log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>

#include "bundle/documents/state.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "runtime/base/signals.hpp"

namespace ocirun::runtime {
namespace {

std::string text_line(std::string_view level, std::string_view message, std::string_view time) {
  std::string quoted;
  for (const char c : message) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n') {
      quoted += "\\n";
    } else {
      quoted += c;
    }
  }
  return fmt::format("time=\"{}\" level={} msg=\"{}\"", time, level, quoted);
}

// Waits until a full pipe has room. False if a signal meanwhile asks this command to end.
bool has_room(Fd stream) {
  constexpr int kPauseMs = 100;
  pollfd room{stream.value, POLLOUT, 0};
  while (::poll(&room, 1, kPauseMs) <= 0)
    if (Signals::ended_by() != 0 || Signals::is_pending()) return false;
  return true;
}

// Blocks SIGPIPE while an object of this class exists: a closed stderr must not kill ocirun in the
// middle of a change.
class BrokenPipesAreErrors {
 public:
  BrokenPipesAreErrors() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::sigprocmask(SIG_BLOCK, &pipe_, &before_);
  }
  BrokenPipesAreErrors(const BrokenPipesAreErrors&) = delete;
  BrokenPipesAreErrors& operator=(const BrokenPipesAreErrors&) = delete;
  ~BrokenPipesAreErrors() {
    if (::sigismember(&before_, SIGPIPE) == 1) return;
    const timespec at_once{};
    ::sigtimedwait(&pipe_, nullptr, &at_once);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_;
  sigset_t before_;
};

// Writes parts of PIPE_BUF bytes: on a pipe that poll(2) calls writable, such a write does not
// block.
void write_to_stderr(std::string_view line) {
  constexpr Fd kStream{STDERR_FILENO};
  for (; !line.empty() && has_room(kStream);
       line.remove_prefix(std::min<std::size_t>(line.size(), PIPE_BUF)))
    if (!linux::write_all(kStream, line.substr(0, PIPE_BUF))) return;
}

}  // namespace

Result<Log> Log::open(const GlobalOptions& options) {
  Log log;
  log.format_ = options.log_format;
  log.level_ = options.log_level;
  if (options.log.empty()) return log;
  // O_NONBLOCK: a FIFO must make ocirun wait neither for a reader nor for room.
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  auto file = linux::sys::open(options.log.c_str(), kFlags, 0644);
  if (!file && file.error().number() == ENXIO)
    return fail(ENXIO, "--log: nobody reads from {}", options.log);
  OCIRUN_TRY_ASSIGN(log.file_, within(std::move(file), "--log"));
  return log;
}

void Log::write(LogLevel level, std::string_view message) const {
  if (level < level_) return;
  const BrokenPipesAreErrors held;
  const std::string shown = linux::without_controls(message);
  const std::string time = linux::rfc3339_now(0);
  const std::string_view level_name = name_of(kLogLevelNames, level);
  if (file_) {
    const std::string line = format_ == LogFormat::kJson ? bundle::log_line(level_name, shown, time)
                                                         : text_line(level_name, shown, time);
    // One write(2) for each line, because several commands append to the same file. The command
    // goes on if the disk is full.
    ignore(linux::write_all(file_, line + "\n"));
  }
  if (!file_ && format_ == LogFormat::kJson)
    write_to_stderr(bundle::log_line(level_name, shown, time) + "\n");
  else if (level == LogLevel::kError)
    write_to_stderr(fmt::format("ocirun: {}\n", shown));
  else if (!file_)
    write_to_stderr(fmt::format("ocirun: {}: {}\n", level_name, shown));
}

}  // namespace ocirun::runtime
