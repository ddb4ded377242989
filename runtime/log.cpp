#include "runtime/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <ctime>

#include "bundle/state_document.hpp"
#include "linux/file_io.hpp"
#include "linux/syscalls.hpp"

namespace ocirun::runtime {
namespace {

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "";
}

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

}  // namespace

std::string rfc3339_now(int digits) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm broken_down{};
  ::gmtime_r(&now.tv_sec, &broken_down);  // not localtime: that reads /etc/localtime at every start
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", broken_down.tm_year + 1900,
                                 broken_down.tm_mon + 1, broken_down.tm_mday, broken_down.tm_hour,
                                 broken_down.tm_min, broken_down.tm_sec);
  if (digits > 0) text += fmt::format(".{:09}", now.tv_nsec);
  return text + "Z";
}

Result<Log> Log::open(const GlobalOptions& options) {
  Log log;
  log.format_ = options.log_format;
  log.level_ = options.log_level;
  if (options.log.empty()) return log;
  TRY_ASSIGN(log.file_,
             within(linux::sys::open(options.log.c_str(),
                                     O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644),
                    "--log"));
  return log;
}

void Log::write(LogLevel level, std::string_view message) const {
  if (level < level_) return;
  const std::string time = rfc3339_now(0);
  if (file_) {
    const std::string line = format_ == LogFormat::kJson
                                 ? bundle::log_line(level_name(level), message, time)
                                 : text_line(level_name(level), message, time);
    // One write a line: several commands append to the same file. A full disk must not fail the
    // command.
    [[maybe_unused]] const auto ignored = linux::write_all(file_, line + "\n");
  }
  if (!file_ || level == LogLevel::kError) {
    const std::string line = level == LogLevel::kError
                                 ? fmt::format("ocirun: {}\n", message)
                                 : fmt::format("ocirun: {}: {}\n", level_name(level), message);
    [[maybe_unused]] const auto ignored = linux::write_all(Fd{STDERR_FILENO}, line);
  }
}

}  // namespace ocirun::runtime
