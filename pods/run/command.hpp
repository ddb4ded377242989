#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/process/clone.hpp"
#include "linux/programs/program.hpp"

namespace ocirun::pods {

/// Tells of a program that has failed. Begins with the text that the program has written to stderr,
/// without its name and its command, and `end`, "/usr/bin/ocirun create exited with status 1",
/// follows in parentheses. Without a text the result is `end`, which is never empty.
std::string failure_text(std::string_view said, std::string_view end);

/// A child process of the supervisor that does a step for it. The supervisor waits for no step: it
/// watches add_wanted(), and calls outcome() when it has reaped pid().
class Command {
 public:
  using Clock = std::chrono::steady_clock;

  /// Starts a program, whose stdout goes into written(), and whose stderr into the error of
  /// outcome(). `what` names the program in errors. Errors: those of start_program().
  static Result<Command> run(std::span<const std::string> words, std::string what);
  /// Like the other run(), for a program whose output goes to `streams`. written() stays empty.
  static Result<Command> run(std::span<const std::string> words, const linux::Streams& streams,
                             std::string what);
  /// Calls `act` in a copy of the calling process, which must have a single thread. The copy ends
  /// when the caller ends, and may take any time.
  static Result<Command> call(const std::function<Result<void>()>& act, std::string what);

  int pid() const { return child_.pid; }
  /// Adds the descriptors that become readable when read() has something to do.
  void add_wanted(std::vector<pollfd>& watched) const;
  /// Reads what is there, so that no pipe fills up; of a stream without end, a part.
  void read();

  /// The time at which the caller must call kill(too_long()) if the program has not ended.
  Clock::time_point deadline() const { return deadline_; }
  static std::string too_long();
  /// The program may take at most `patience` from now on.
  void hurry(Clock::duration patience) { deadline_ = Clock::now() + patience; }
  /// Kills the program, and what it has started in its session. The error of outcome() is then the
  /// name of the command, and `has`, such as "was stopped".
  void kill(std::string has);

  /// Must be called with the status of waitpid(2). Errors: the command has not ended with 0: what
  /// it has written to stderr, or the error of `act`.
  Result<void> outcome(int status);
  /// Whether the command has ended with a status other than 0, by itself.
  bool has_refused(int status) const;
  /// The first bytes of stdout, after outcome().
  const std::string& written() const { return output_.text; }
  /// Waits for the end of a command until deadline(), and returns written(). Errors: those of
  /// outcome(). For a process that has nothing else to do.
  Result<std::string> await();

 private:
  Command(linux::Child child, std::string what)
      : child_(std::move(child)), what_(std::move(what)) {}

  /// A stream of the program, and its first bytes.
  struct Heard {
    UniqueFd pipe;  // empty: the stream goes elsewhere
    std::string text;
    void read(std::size_t most);
  };

  linux::Child child_;
  Heard output_, errors_;
  std::string what_;
  bool is_call_ = false;
  std::string killed_;  // how outcome() tells of kill(); "": it was not called
  Clock::time_point deadline_ = Clock::now() + linux::kProgramPatience;
};

}  // namespace ocirun::pods
