#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::linux {

/// Finds a program of this machine in PATH, or in the directories for root's programs. Returns its
/// path, or "" if it is not installed.
std::string find_program(std::string_view name);

/// The standard output and error of a program. A descriptor of -1 stands for /dev/null.
struct Streams {
  Fd out, err;
};

/// Starts a program with stdin from /dev/null. It gets a session of its own, so that it gets no
/// signals from the caller's terminal. It is killed when the caller ends: otherwise a runtime could
/// make a container that nobody removes. `arguments` begins with the path of the program. Errors:
/// those of spawn().
Result<Child> start_program(std::span<const std::string> arguments, const Streams& streams);

/// Starts a program that outlives the caller. Calls `record` with the identity of the process
/// before the program is executed, so that the process can be found even if the caller is killed.
/// The process then calls `prepare`, if that is given; an error of `prepare` goes to the program's
/// standard error. Errors: those of start_program(); that of `record`, after which the program is
/// not executed.
Result<Child> start_recorded_program(
    std::span<const std::string> arguments, const Streams& streams,
    const std::function<Result<void>(const ProcessIdentity&)>& record,
    const std::function<Result<void>()>& prepare = nullptr);

/// The longest time that a program of run_program() or end_of() may take by default.
inline constexpr std::chrono::seconds kProgramPatience{60};

/// Waits for the end of a program. Returns the status of waitpid(2). Errors: the program takes
/// longer than `patience`, and was killed.
Result<int> end_of(Child& child, std::chrono::milliseconds patience = kProgramPatience);

/// Reads a stream to its end or until `deadline`. Returns the first 64 KiB, without line breaks at
/// the end.
std::string read_text(Fd stream, std::chrono::steady_clock::time_point deadline);

/// Runs a program to its end. Errors: those of start_program() and end_of(); the program has
/// failed; the error has its exit status and its stderr.
Result<void> run_program(std::span<const std::string> arguments,
                         std::chrono::seconds patience = kProgramPatience);

/// Reads the pid from a file that another program has written at `path`. Errors: ENOENT; the file
/// has no pid.
Result<int> read_pid_file(const std::string& path);

/// Computes the pause before a program or a container is started again: 1 s at first, then twice as
/// long each time, at most 5 minutes. After a run of 10 minutes the pause is 1 s again.
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

}  // namespace ocirun::linux
