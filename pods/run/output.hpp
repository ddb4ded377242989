#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "linux/base/file_io.hpp"
#include "pods/logs/writer.hpp"
#include "pods/prepare/program.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {

/// Prints a line of a container for whoever looks at a pod in the foreground.
using LinePrinter = std::function<void(Stream stream, std::string_view line)>;

/// What the program of a container writes: read from two pipes, written to its log.
class ContainerOutput {
 public:
  /// `directory` gets the log NAME.log. `print` may be empty. Errors: those of LogWriter::open().
  static Result<ContainerOutput> open_log(UniqueFd directory, const std::string& name,
                                          LinePrinter print);

  /// Makes new pipes for a run of the container.
  Result<Streams> open();
  /// To be called when the container has inherited its ends of the pipes.
  void close_writers();

  using Clock = std::chrono::steady_clock;
  /// What to poll for; descriptor -1 for a stream that has ended. After each reading the streams
  /// rest, so that a program that writes without end costs the supervisor a tenth of a CPU at most.
  std::array<pollfd, 2> wanted(Clock::time_point now) const;
  /// The end of the rest, when wanted() may change; Clock::time_point::max(): no rest.
  Clock::time_point next(Clock::time_point now) const;
  /// Reads what is there, without waiting, unless the streams rest.
  void read_some(Clock::time_point now);
  /// Reads what is left when the program has ended, closes the pipes, and completes the last line.
  /// A process that the program has left behind can write no longer.
  void finish();

  /// Reads what the runtime has written to stderr because it failed, and closes the pipes.
  std::string take_error();

 private:
  ContainerOutput(UniqueFd directory, LogWriter log)
      : directory_(std::move(directory)), log_(std::move(log)) {}
  bool read_once(std::size_t stream);

  UniqueFd directory_;             // of the log
  Clock::time_point rests_until_;  // the streams
  LogWriter log_;
  std::array<linux::Pipe, 2> pipes_;  // stdout, stderr
};

/// Tells what a container has written last.
using LastLines =
    std::function<void(const std::string& container, const std::vector<std::string>& lines)>;

/// Tells the last ten lines of each container that has kept a pod from its start: one whose program
/// has run and is not ready, and an init container that has failed. `tell` may be empty.
void tell_last_lines(const PodRecord& record, const LastLines& tell);

}  // namespace ocirun::pods
