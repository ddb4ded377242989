#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::pods {

/// The path of a program of this machine: in PATH, or where programs for root are; "" if it is not
/// installed.
std::string find_program(std::string_view name);

/// The standard streams of a program; -1: /dev/null.
struct Streams {
  Fd out, err;
};

/// Starts a program with stdin from /dev/null, in a session of its own, so that the signals of the
/// caller's terminal reach only the caller. The program dies with the caller: a runtime that goes
/// on would make a container that nobody removes. `arguments`: the path of the program first.
/// Errors: those of linux::spawn().
Result<linux::Child> start_program(std::span<const std::string> arguments, const Streams& streams);

/// Starts a program that outlives its caller: `record` is called with its identity before it is
/// executed, so that it can be found whenever the caller is killed. Errors: those of
/// start_program(); the error of `record`, and then the program has not been executed.
Result<linux::Child> start_recorded_program(
    std::span<const std::string> arguments, const Streams& streams,
    const std::function<Result<void>(const linux::ProcessIdentity&)>& record);

/// How long a program of run_program() or end_of() may take.
inline constexpr std::chrono::seconds kProgramPatience{60};

/// Waits for the end of a program; returns the status of waitpid(2). Errors: it takes longer than
/// kProgramPatience: then it has been killed.
Result<int> end_of(linux::Child& child);

/// Reads the first 64 KiB of a stream, to its end or until `deadline`, without the line breaks at
/// the end.
std::string read_text(Fd stream, std::chrono::steady_clock::time_point deadline);

/// A program that runs, whose end somebody will await.
struct RunningProgram {
  linux::Child child;
  UniqueFd errors;  // the other end of its stderr
  std::chrono::steady_clock::time_point deadline;
};

/// Starts a program that may take kProgramPatience. Errors: as start_program().
Result<RunningProgram> begin_program(std::span<const std::string> arguments);
/// Waits for the end of a program. Errors: those of end_of(); "exited with status 1: " and what the
/// program has written to stderr, without the line break at its end.
Result<void> end_program(RunningProgram& program);
/// Both in one.
Result<void> run_program(std::span<const std::string> arguments);

/// The pid in a file that another program has written at `path`. Errors: ENOENT; a file without a
/// pid.
Result<int> read_pid_file(const std::string& path);

/// How long a container waits before it is started again: 1 s, then twice as long each time, 5
/// minutes at most. A run of 10 minutes is a success, after which the first wait is 1 s again.
class Backoff {
 public:
  std::chrono::seconds after_run_of(std::chrono::steady_clock::duration ran) {
    if (ran >= kSuccess) next_ = kFirst;
    const std::chrono::seconds wait = next_;
    next_ = next_ * 2 < kLongest ? next_ * 2 : kLongest;
    return wait;
  }

 private:
  static constexpr std::chrono::seconds kFirst{1}, kLongest{300};
  static constexpr std::chrono::minutes kSuccess{10};
  std::chrono::seconds next_ = kFirst;
};

}  // namespace ocirun::pods
