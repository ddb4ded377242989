#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "runtime/base/options.hpp"

namespace ocirun::runtime {

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

}  // namespace ocirun::runtime
