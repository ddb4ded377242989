#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/programs/program.hpp"
#include "pods/documents/model/container.hpp"
#include "pods/run/command.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {

/// Whose container has an id. kUnknown: the runtime has failed otherwise than for an id that nobody
/// has.
enum class Owner : std::uint8_t { kUs, kOther, kNobody, kUnknown };

/// An OCI runtime. Calls its command line, as engines do.
class Runtime {
 public:
  /// `command`: the path of the runtime, and the options that stand before each command.
  explicit Runtime(std::vector<std::string> command) : command_(std::move(command)) {}

  const std::vector<std::string>& command() const { return command_; }

  /// The functions begin_…() start a command of the runtime, and do not wait for its end. Errors:
  /// those of start_program().
  Result<Command> begin_start(const std::string& id) const;
  /// `state` fails if there is no container of this id. owner_of() reads the answer.
  Result<Command> begin_state(const std::string& id) const;
  /// Whose container `state` has told of: ours has the bundle at the path `bundle`. `answer`: what
  /// `state` has written about the container `id`, or its error, whose text tells that nobody has
  /// the id.
  static Owner owner_of(const Result<std::string>& answer, const std::string& id,
                        const std::string& bundle);
  Result<Command> begin_kill(const std::string& id, int signal) const;
  /// `delete --force` kills the program if it runs. It may fail if there is no such container.
  Result<Command> begin_remove(const std::string& id) const;
  /// Creates a container whose program writes to `streams`; the runtime writes its own errors to
  /// `streams.err`. `bundle` is the path of a directory, in which the file `pid` is written.
  Result<Command> begin_create(const std::string& id, const std::string& bundle,
                               const linux::Streams& streams) const;
  /// Returns the pid of the container's program, after `create`.
  static Result<int> read_pid(const std::string& bundle);

  /// Asks `state` for the pid of the container's program. Errors: the program does not run; the
  /// runtime fails.
  Result<int> find_pid(const std::string& id) const;
  /// The pid of a container's program, which may be paused. Nothing: no program runs, as the record
  /// or `state` says, or because `state` fails and the process of the record is gone. Errors:
  /// `state` fails, and that process may run.
  Result<std::optional<int>> find_program(const ContainerRecord& container) const;

  /// Sends a signal to the program. Errors: also that the program has ended.
  Result<void> kill(const std::string& id, int signal) const;
  /// Kills the container if it runs, and removes it. Does nothing if there is no such container, or
  /// if it has another bundle than `bundle` and so is somebody else's. Waits at most `patience` for
  /// each command. Errors: the runtime cannot be started, cannot remove the container, or cannot
  /// tell whose it is, and its id was not free before (ContainerRecord::was_free).
  Result<void> remove(const ContainerRecord& container, const std::string& bundle,
                      std::chrono::seconds patience = linux::kProgramPatience) const;

  /// The command line that executes `arguments` in a container, and writes the pid of the program
  /// to `pid_file`.
  std::vector<std::string> exec_command(const std::string& id, const std::string& pid_file,
                                        const std::vector<std::string>& arguments) const;

 private:
  struct State {
    std::string status, bundle;
    int pid = 0;
  };
  static Result<State> parse_state(std::string_view text, std::string_view what);
  Result<State> find_state(const std::string& id) const;
  std::vector<std::string> words(std::vector<std::string> command) const;
  Result<Command> begin(std::vector<std::string> command) const;
  Result<void> run(std::vector<std::string> command) const;
  std::string shown(const std::string& command) const;

  std::vector<std::string> command_;
};

/// The exit status of shells for a program that cannot be executed: 127 if there is no such
/// program, 126 if it is no executable file. Returns nothing if the runtime has failed for another
/// reason. `said` is the error message of the runtime; ocirun and runc have the same words.
std::optional<int> status_of_missing_program(std::string_view said);

/// The exit status of a command whose pod could not be started: 127 or 126 if the program of a
/// container cannot be executed, else 1. A container that never started, and was killed because the
/// pod was given up, gives no status.
int failure_status(const PodRecord& record);

/// The place in the document of `program`, the first word of the container's command line. If the
/// image names the program, the place of the image. nullptr if neither place is known.
Place place_of_program(const Container& container, std::string_view program);

}  // namespace ocirun::pods
