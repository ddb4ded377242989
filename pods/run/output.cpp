#include "pods/run/output.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/run/logs/line.hpp"
#include "pods/run/logs/reader.hpp"

namespace ocirun::pods {
namespace {

constexpr std::size_t kBlock = 16384;       // bytes of one read(2)
constexpr std::size_t kMostLeft = 1 << 20;  // bytes that a pipe of an ordinary user can hold
constexpr std::size_t kLongestError = 65536;
constexpr std::array kStreams{Stream::kStdout, Stream::kStderr};

}  // namespace

Result<ContainerOutput> ContainerOutput::open_log(UniqueFd directory, const std::string& name,
                                                  LinePrinter print, linux::OutputPace pace) {
  OCIRUN_TRY_ASSIGN(LogWriter log, LogWriter::open(directory, name, {}, std::move(print)));
  return ContainerOutput(std::move(directory), std::move(log), pace);
}

Result<linux::Streams> ContainerOutput::open() {
  for (linux::Pipe& pipe : pipes_) {
    OCIRUN_TRY_ASSIGN(linux::Pipe made, linux::make_pipe());
    OCIRUN_TRY(within(linux::set_nonblocking(made.reader), "set up the container's output"));
    pipe = std::move(made);  // only now: no read of a pipe in pipes_ waits
  }
  return linux::Streams{.out = pipes_[0].writer, .err = pipes_[1].writer};
}

void ContainerOutput::resume(std::array<UniqueFd, 2> readers) {
  for (std::size_t stream = 0; stream < pipes_.size(); ++stream)
    pipes_[stream].reader = std::move(readers[stream]);
}

void ContainerOutput::close_writers() {
  for (linux::Pipe& pipe : pipes_) pipe.writer.reset();
}

std::array<pollfd, 2> ContainerOutput::wanted(Clock::time_point now) const {
  if (pace_.rests(now)) return {pollfd{-1, 0, 0}, pollfd{-1, 0, 0}};
  return {pollfd{pipes_[0].reader.get(), POLLIN, 0}, pollfd{pipes_[1].reader.get(), POLLIN, 0}};
}

/// Returns how many bytes were read, at most kBlock. A log that cannot be written to must not stop
/// the container.
std::size_t ContainerOutput::read_once(std::size_t stream) {
  UniqueFd& reader = pipes_[stream].reader;
  if (!reader) return 0;
  std::array<char, kBlock> block;
  ssize_t count = 0;
  do count = ::read(reader.get(), block.data(), block.size());
  while (count < 0 && errno == EINTR);
  if (count < 0 && errno == EAGAIN) return 0;
  if (count <= 0) {
    reader.reset();
    return 0;
  }
  const auto size = static_cast<std::size_t>(count);
  ignore(log_.write(kStreams[stream], std::string_view(block.data(), size), wall_clock()));
  return size;
}

ContainerOutput::Clock::time_point ContainerOutput::next(Clock::time_point now) const {
  const bool is_open = pipes_[0].reader || pipes_[1].reader;
  return is_open && pace_.rests(now) ? pace_.rests_until() : Clock::time_point::max();
}

void ContainerOutput::read_some(Clock::time_point now) {
  if (pace_.rests(now)) return;
  pace_.begin();
  bool has_read = false;
  // A stream that gave less than a block is empty: what comes now gathers during the rest.
  for (std::array may_have_more{true, true};
       (may_have_more[0] || may_have_more[1]) && pace_.has_time_left();)
    for (std::size_t stream = 0; stream < pipes_.size(); ++stream) {
      const std::size_t size = may_have_more[stream] ? read_once(stream) : 0;
      may_have_more[stream] = size == kBlock;
      has_read = has_read || size > 0;
    }
  if (has_read) pace_.end();
}

void ContainerOutput::finish() {
  close_writers();
  for (std::size_t stream = 0; stream < pipes_.size(); ++stream) {
    // Not to the end of the pipe: a program of another container may go on writing to it.
    int held = 0;
    if (::ioctl(pipes_[stream].reader.get(), FIONREAD, &held) != 0) held = 0;
    for (auto left = std::min(static_cast<std::size_t>(held), kMostLeft); left > 0;) {
      const std::size_t size = read_once(stream);
      if (size == 0) break;
      left -= std::min(left, size);
    }
    pipes_[stream].reader.reset();
  }
  ignore(log_.flush(wall_clock()));
}

std::string ContainerOutput::take_error() {
  close_writers();
  std::string text(kLongestError, '\0');
  const ssize_t count = ::read(pipes_[1].reader.get(), text.data(), text.size());
  text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  while (text.ends_with('\n')) text.pop_back();
  for (linux::Pipe& pipe : pipes_) pipe.reader.reset();
  return text;
}

namespace {

constexpr std::uint64_t kLines = 10;

bool has_kept_from_start(const ContainerRecord& container) {
  if (container.started_at.empty() || container.ready || container.exit_code == 0) return false;
  return !container.is_init || container.exit_code;
}

}  // namespace

void tell_last_lines(const PodRecord& record, const LastLines& tell) {
  if (!tell) return;
  const auto logs = linux::sys::open(record.log_directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (!logs) return;
  for (const ContainerRecord& container : record.containers) {
    if (!has_kept_from_start(container)) continue;
    std::vector<std::string> lines;
    const LogQuery query{.since = {}, .tail = kLines, .follow = false};
    // A log that cannot be read tells nothing: the error of the start is told in any case.
    ignore(read_log(*logs, container.id, query, [&](const LogLine& line) -> Result<void> {
      lines.push_back(line.text);
      return {};
    }));
    tell(container.name, lines);
  }
}

}  // namespace ocirun::pods
