#pragma once

#include <poll.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/programs/output_pace.hpp"
#include "linux/programs/program.hpp"
#include "pods/run/logs/writer.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {

/// Prints lines of a container of a pod in the foreground, and pieces of lines, each with a line
/// break.
using LinePrinter = LogWriter::OnLines;

/// The output of a container: reads it from two pipes, and writes it to the log.
class ContainerOutput {
 public:
  /// `directory` gets the log NAME.log. `print` may be empty. Errors: those of LogWriter::open().
  static Result<ContainerOutput> open_log(UniqueFd directory, const std::string& name,
                                          LinePrinter print,
                                          linux::OutputPace pace = linux::OutputPace());

  /// Makes new pipes for a run of the container.
  Result<linux::Streams> open();
  /// The reading ends of the pipes, for a keeper.
  std::array<Fd, 2> readers() const { return {pipes_[0].reader, pipes_[1].reader}; }
  /// Goes on with the pipes of a supervisor that was killed.
  void resume(std::array<UniqueFd, 2> readers);
  /// Must be called when the container has inherited the writing ends of the pipes.
  void close_writers();

  using Clock = linux::OutputPace::Clock;
  /// The descriptors to poll; -1 for a stream that has ended or rests. Both streams rest after each
  /// reading, as linux::OutputPace says. A program that writes more than is read then waits for its
  /// pipe.
  std::array<pollfd, 2> wanted(Clock::time_point now) const;
  /// The end of the rest, when wanted() may change; Clock::time_point::max() without a rest.
  Clock::time_point next(Clock::time_point now) const;
  /// Reads the present output for some milliseconds, without waiting for more. Does nothing while
  /// the streams rest.
  void read_some(Clock::time_point now);
  /// Reads what the pipes still have when the program has ended, at most 1 MiB of each. Closes the
  /// pipes, and completes the last line. Processes that the program has left behind cannot write
  /// any more.
  void finish();

  /// Reads the error message of a runtime that has failed, and closes the pipes.
  std::string take_error();

 private:
  ContainerOutput(UniqueFd directory, LogWriter log, linux::OutputPace pace)
      : directory_(std::move(directory)), pace_(pace), log_(std::move(log)) {}
  std::size_t read_once(std::size_t stream);

  UniqueFd directory_;  // of the log
  linux::OutputPace pace_;
  LogWriter log_;
  std::array<linux::Pipe, 2> pipes_;  // stdout, stderr
};

/// Gets the last lines of a container.
using LastLines =
    std::function<void(const std::string& container, const std::vector<std::string>& lines)>;

/// Calls `tell` with the last ten lines of each container because of which a pod has not started:
/// its program has run and is not ready, or it is an init container that has failed. `tell` may be
/// empty.
void tell_last_lines(const PodRecord& record, const LastLines& tell);

}  // namespace ocirun::pods
