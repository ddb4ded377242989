#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "runtime/base/options.hpp"

namespace ocirun::runtime {

/// `text` with its control characters written out, as "\x1b": a name in an image must not control
/// the terminal of whoever reads a message. Newlines and tabs stay. A C1 control is written out
/// both as two bytes of UTF-8 and as the single byte that a terminal without UTF-8 obeys.
std::string without_controls(std::string_view text);
/// Like without_controls(), with newlines and tabs written out too: for a cell of a table.
std::string in_one_line(std::string_view text);

/// The log: the file of --log, as text or as one JSON object a line, or stderr without --log.
/// Errors go to stderr as well, where conmon and go-runc look for them.
class Log {
 public:
  /// Opens the file for appending (mode 0644). Errors: the file cannot be opened.
  static Result<Log> open(const GlobalOptions& options);

  void debug(std::string_view message) const { write(LogLevel::kDebug, message); }
  void info(std::string_view message) const { write(LogLevel::kInfo, message); }
  void warn(std::string_view message) const { write(LogLevel::kWarning, message); }
  void error(std::string_view message) const { write(LogLevel::kError, message); }

 private:
  void write(LogLevel level, std::string_view message) const;

  UniqueFd file_;
  LogFormat format_ = LogFormat::kText;
  LogLevel level_ = LogLevel::kInfo;
};

/// Now, as RFC 3339 in UTC with `digits` digits of a second's fraction (0 or 9).
std::string rfc3339_now(int digits);

}  // namespace ocirun::runtime
