#include "pods/run/logs/writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::pods {

LogWriter::LogWriter(Fd directory, std::string name, LogLimits limits, OnLines on_lines)
    : directory_(directory),
      name_(std::move(name)),
      limits_(limits),
      on_lines_(std::move(on_lines)) {}

Result<LogWriter> LogWriter::open(Fd directory, std::string name, LogLimits limits,
                                  OnLines on_lines) {
  LogWriter writer(directory, std::move(name), limits, std::move(on_lines));
  OCIRUN_TRY(writer.open_current());
  return writer;
}

Result<void> LogWriter::open_current() {
  const std::string file = log_file_name(name_, 0);
  OCIRUN_TRY_ASSIGN(file_, open_log_file(directory_, file, O_RDWR | O_APPEND | O_CREAT));
  OCIRUN_TRY_ASSIGN(const struct stat info, linux::sys::fstat(file_));
  size_ = static_cast<std::uint64_t>(info.st_size);
  char last = '\n';
  if (size_ > 0 && ::pread(file_.get(), &last, 1, info.st_size - 1) != 1)
    return fail(EIO, "read the end of {}", file);
  is_torn_ = last != '\n';
  return {};
}

Result<void> LogWriter::write(Stream stream, std::string_view bytes, timespec now) {
  const std::string head = line_head(now, stream);
  Unfinished& left = unfinished_[static_cast<std::size_t>(stream)];
  while (!bytes.empty()) {
    const std::size_t room = kLongestPiece - left.text.size();
    const std::size_t taken = std::min(bytes.substr(0, room + 1).find('\n'), room);
    // A full piece waits for the next byte, which may be the line break.
    if (taken >= bytes.size()) {
      left.text += bytes;
      break;
    }
    const bool whole = bytes[taken] == '\n';
    if (left.text.empty()) {
      add(head, bytes.substr(0, taken), whole);
    } else {
      left.text += bytes.substr(0, taken);
      add(head, left.text, whole);
      left.text.clear();
    }
    left.has_piece = !whole;
    bytes.remove_prefix(taken + (whole ? 1 : 0));
  }
  show(stream);
  return report(store());
}

Result<void> LogWriter::flush(timespec now) {
  for (const Stream stream : {Stream::kStdout, Stream::kStderr}) {
    Unfinished& left = unfinished_[static_cast<std::size_t>(stream)];
    if (left.text.empty() && !left.has_piece) continue;
    add(line_head(now, stream), left.text, true);
    left = {};
    show(stream);
  }
  return report(store());
}

void LogWriter::add(std::string_view head, std::string_view text, bool whole) {
  records_ += head;
  records_ += whole ? "F " : "P ";
  records_ += text;
  records_ += '\n';
  if (!on_lines_) return;
  shown_ += text;
  shown_ += '\n';
}

void LogWriter::show(Stream stream) {
  if (!shown_.empty()) on_lines_(stream, shown_);
  shown_.clear();
}

Result<void> LogWriter::store() {
  const std::string records = std::exchange(records_, {});
  std::string_view rest = records;
  while (!rest.empty()) {
    const std::size_t room = limits_.bytes - std::min(limits_.bytes, size_);
    std::size_t fits = rest.size();
    if (fits > room) fits = room == 0 ? 0 : rest.rfind('\n', room - 1) + 1;
    if (fits == 0 && size_ > 0) {
      OCIRUN_TRY(rotate());
      continue;
    }
    if (fits == 0) fits = rest.find('\n') + 1;  // a line longer than a file has a file of its own
    OCIRUN_TRY(append(rest.substr(0, fits)));
    rest.remove_prefix(fits);
  }
  return {};
}

Result<void> LogWriter::append(std::string_view records) {
  if (!file_) OCIRUN_TRY(open_current());
  if (is_torn_) {
    OCIRUN_TRY(linux::write_all(file_, "\n"));
    ++size_;
    is_torn_ = false;
  }
  auto written = linux::write_all(file_, records);
  if (written)
    size_ += records.size();
  else
    is_torn_ = ::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0;
  return written;
}

// A reader that follows has the old file open and reads the old file to its end.
Result<void> LogWriter::rotate() {
  for (unsigned age = limits_.files; age > 0; --age) {
    const auto moved = linux::sys::renameat2(directory_, log_file_name(name_, age - 1).c_str(),
                                             directory_, log_file_name(name_, age).c_str(), 0);
    if (!moved && !is_missing(moved)) return moved;
  }
  if (limits_.files == 0) {
    const auto removed = linux::sys::unlinkat(directory_, log_file_name(name_, 0).c_str(), 0);
    if (!removed && !is_missing(removed)) return removed;
  }
  file_.reset();
  size_ = 0;
  return open_current();
}

Result<void> LogWriter::report(Result<void> outcome) {
  const bool is_first = !std::exchange(has_failed_, !outcome);
  if (outcome || !is_first) return {};
  return within(std::move(outcome), "log {}", log_file_name(name_, 0));
}

std::string log_file_name(const std::string& name, unsigned age) {
  return age == 0 ? name + ".log" : fmt::format("{}.log.{}", name, age);
}

Result<UniqueFd> open_log_file(Fd directory, const std::string& file, int flags) {
  if (file.find('/') != std::string::npos || file.find('\0') != std::string::npos)
    return refuse("\"{}\" cannot be a log's name: a name has no slash and no NUL", file);
  // O_NONBLOCK: the open does not wait for the other end of a fifo.
  OCIRUN_TRY_ASSIGN(UniqueFd fd, linux::sys::openat(
                                     directory, file.c_str(),
                                     flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  OCIRUN_TRY_ASSIGN(const struct stat info, linux::sys::fstat(fd));
  if (!S_ISREG(info.st_mode))
    return refuse("the log {} must be a regular file: remove what is there", file);
  return fd;
}

}  // namespace ocirun::pods
