#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/run/logs/line.hpp"

namespace ocirun::pods {

struct LogLimits {
  std::uint64_t bytes = 10 << 20;  // of one file; a file with a single line may be larger
  unsigned files = 5;              // how many rotated files are kept
};

/// The longest text of one line of the log file. A longer line is written in pieces.
inline constexpr std::size_t kLongestPiece = 16 << 10;

/// Writes the log of one container: NAME.log, rotated to NAME.log.1 … NAME.log.N. For use by one
/// thread.
class LogWriter {
 public:
  using OnLines = std::function<void(Stream, std::string_view lines)>;

  /// Opens or makes the log. `directory` must outlive the writer. `on_lines` gets the text of the
  /// lines and pieces of lines of each call, each with a line break, even if the file cannot be
  /// written. Errors: NAME.log is not a regular file; those of open(2).
  static Result<LogWriter> open(Fd directory, std::string name, LogLimits limits,
                                OnLines on_lines = {});

  /// Takes bytes from a pipe, and writes the lines that they complete. After an error (ENOSPC …)
  /// the lines of this call are lost. Returns only the first of several errors in a row.
  Result<void> write(Stream stream, std::string_view bytes, timespec now);
  /// Ends unfinished lines, and writes them: the container has ended. Errors: those of write().
  Result<void> flush(timespec now);

 private:
  LogWriter(Fd directory, std::string name, LogLimits limits, OnLines on_lines);
  void add(std::string_view head, std::string_view text, bool whole);
  void show(Stream stream);
  Result<void> store();
  Result<void> append(std::string_view records);
  Result<void> rotate();
  Result<void> open_current();
  Result<void> report(Result<void> outcome);

  struct Unfinished {
    std::string text;
    bool has_piece = false;  // pieces of this line are in the log already
  };

  Fd directory_;
  std::string name_;
  LogLimits limits_;
  OnLines on_lines_;
  UniqueFd file_;
  std::uint64_t size_ = 0;  // of the file, up to the last whole line
  bool is_torn_ = false;    // the file ends within a line
  bool has_failed_ = false;
  std::string records_;  // not yet in the file
  std::string shown_;    // not yet given to on_lines_
  std::array<Unfinished, 2> unfinished_;
};

/// The name of a container's log: NAME.log for `age` 0, NAME.log.1 for the youngest rotated file …
std::string log_file_name(const std::string& name, unsigned age);

/// Opens a file of a log, never through a symlink. `flags` as for open(2); O_CREAT makes it with
/// mode 0600. Errors: ENOENT; the file is not a regular file.
Result<UniqueFd> open_log_file(Fd directory, const std::string& file, int flags);

}  // namespace ocirun::pods
