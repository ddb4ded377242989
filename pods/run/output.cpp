#include "pods/run/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "pods/run/logs/line.hpp"
#include "pods/run/logs/reader.hpp"

namespace ocirun::pods {
namespace {

constexpr std::size_t kPiece = 65536;
constexpr int kMostPieces = 16;  // of one stream in a row: other containers write too
// During a rest the pipe fills up, and then blocks the program.
constexpr std::chrono::milliseconds kLeastRest{5};
constexpr std::chrono::milliseconds kMostRest{200};  // after a disk that was slow
constexpr int kRestForWork = 9;                      // times as long as the reading took
constexpr std::array kStreams{Stream::kStdout, Stream::kStderr};

}  // namespace

Result<ContainerOutput> ContainerOutput::open_log(UniqueFd directory, const std::string& name,
                                                  LinePrinter print) {
  LogWriter::OnLine on_line;
  if (print)
    on_line = [print = std::move(print)](Stream stream, std::string_view text, bool) {
      print(stream, text);
    };
  OCIRUN_TRY_ASSIGN(LogWriter log, LogWriter::open(directory, name, {}, std::move(on_line)));
  return ContainerOutput(std::move(directory), std::move(log));
}

Result<linux::Streams> ContainerOutput::open() {
  for (linux::Pipe& pipe : pipes_) {
    OCIRUN_TRY_ASSIGN(linux::Pipe made, linux::make_pipe());
    const int flags = ::fcntl(made.reader.get(), F_GETFL);
    if (flags < 0 || ::fcntl(made.reader.get(), F_SETFL, flags | O_NONBLOCK) != 0)
      return fail(errno, "set up the container's output");
    pipe = std::move(made);  // never one of which a read waits
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
  if (now < rests_until_) return {pollfd{-1, 0, 0}, pollfd{-1, 0, 0}};
  return {pollfd{pipes_[0].reader.get(), POLLIN, 0}, pollfd{pipes_[1].reader.get(), POLLIN, 0}};
}

/// Whether there was something to read. A log that cannot be written to must not stop the
/// container.
bool ContainerOutput::read_once(std::size_t stream) {
  UniqueFd& reader = pipes_[stream].reader;
  if (!reader) return false;
  std::array<char, kPiece> piece;
  const ssize_t count = ::read(reader.get(), piece.data(), piece.size());
  if (count < 0 && errno == EINTR) return true;
  if (count < 0 && errno == EAGAIN) return false;
  if (count <= 0) {
    reader.reset();
    return false;
  }
  ignore(log_.write(kStreams[stream],
                    std::string_view(piece.data(), static_cast<std::size_t>(count)), wall_clock()));
  return true;
}

ContainerOutput::Clock::time_point ContainerOutput::next(Clock::time_point now) const {
  const bool is_open = pipes_[0].reader || pipes_[1].reader;
  return is_open && now < rests_until_ ? rests_until_ : Clock::time_point::max();
}

void ContainerOutput::read_some(Clock::time_point now) {
  if (now < rests_until_) return;
  const Clock::time_point begun = Clock::now();
  bool has_read = false;
  for (std::size_t stream = 0; stream < pipes_.size(); ++stream)
    for (int pieces = 0; pieces < kMostPieces && read_once(stream); ++pieces) has_read = true;
  if (has_read)
    rests_until_ = now + std::clamp<Clock::duration>(kRestForWork * (Clock::now() - begun),
                                                     kLeastRest, kMostRest);
}

void ContainerOutput::finish() {
  close_writers();
  for (std::size_t stream = 0; stream < pipes_.size(); ++stream) {
    // Reads at most what a pipe can hold, because a program of another container may go on writing
    // to it.
    for (int pieces = 0; pieces < kMostPieces && read_once(stream); ++pieces) {
    }
    pipes_[stream].reader.reset();
  }
  ignore(log_.flush(wall_clock()));
}

std::string ContainerOutput::take_error() {
  close_writers();
  std::string text(kPiece, '\0');
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
