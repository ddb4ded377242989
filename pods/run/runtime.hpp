#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pods/model/container.hpp"
#include "pods/prepare/program.hpp"

namespace ocirun::pods {

/// An OCI runtime, used by its command line as engines do.
class Runtime {
 public:
  /// `command`: the path of the runtime, and the options that stand before each command.
  explicit Runtime(std::vector<std::string> command) : command_(std::move(command)) {}

  const std::vector<std::string>& command() const { return command_; }

  /// A command of the runtime that has begun, and that end() awaits. Several may run at once.
  struct Call {
    RunningProgram program;
    std::string what;  // for errors
  };
  Result<Call> begin_start(const std::string& id) const;
  /// The command fails if there is no container of this id.
  Result<Call> begin_state(const std::string& id) const;
  /// Errors: those of end_program().
  static Result<void> end(Call& call);

  /// Begins to create a container whose program writes to `streams`. `bundle` is the path of a
  /// directory, in which the file `pid` is written.
  Result<linux::Child> begin_create(const std::string& id, const std::string& bundle,
                                    const Streams& streams) const;
  /// Returns the pid of the container's program. Errors: the runtime fails; its reason is then on
  /// the stream `err` of begin_create().
  Result<int> end_create(linux::Child& call, const std::string& bundle) const;

  /// The program may have ended meanwhile: that is an error too.
  Result<void> kill(const std::string& id, int signal) const;
  /// Kills the container if it runs, and removes it. A container that does not exist is no error.
  Result<void> remove(const std::string& id) const;

  /// The words of a command that executes `arguments` in a container, and writes the pid of the
  /// program to `pid_file`.
  std::vector<std::string> exec_command(const std::string& id, const std::string& pid_file,
                                        const std::vector<std::string>& arguments) const;

 private:
  std::vector<std::string> words(std::vector<std::string> command) const;
  Result<Call> begin(std::vector<std::string> command) const;
  Result<void> run(std::vector<std::string> command) const;

  std::vector<std::string> command_;
};

/// The exit status that shells have for a program that cannot be executed: 127 if it does not
/// exist, 126 if it is no executable file; nothing if the runtime failed for another reason.
/// `said`: the runtime's words, of which ocirun and runc have the same.
std::optional<int> status_of_missing_program(std::string_view said);

/// The place in the document of the word `program`, with which the container's command line begins;
/// that of the image, if the image names the program; nullptr if neither is known.
Place place_of_program(const Container& container, std::string_view program);

}  // namespace ocirun::pods
