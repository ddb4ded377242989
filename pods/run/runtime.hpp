#pragma once

#include <string>
#include <vector>

#include "pods/prepare/program.hpp"

namespace ocirun::pods {

/// An OCI runtime, used by its command line as engines do.
class Runtime {
 public:
  /// `command`: the path of the runtime, and the options that stand before each command.
  explicit Runtime(std::vector<std::string> command) : command_(std::move(command)) {}

  const std::vector<std::string>& command() const { return command_; }

  /// Creates a container whose program writes to `streams`. Returns the pid of the program.
  /// `bundle` is the path of a directory, in which the file `pid` is written. Errors: the runtime
  /// fails; its reason is then on `streams.err`.
  Result<int> create(const std::string& id, const std::string& bundle,
                     const Streams& streams) const;
  Result<void> start(const std::string& id) const;
  /// The program may have ended meanwhile: that is an error too.
  Result<void> kill(const std::string& id, int signal) const;
  /// Kills the container if it runs, and removes it. A container that does not exist is no error.
  Result<void> remove(const std::string& id) const;
  /// Whether the runtime can tell the state of a container of this id.
  bool has(const std::string& id) const;

  /// The words of a command that executes `arguments` in a container, and writes the pid of the
  /// program to `pid_file`.
  std::vector<std::string> exec_command(const std::string& id, const std::string& pid_file,
                                        const std::vector<std::string>& arguments) const;

 private:
  std::vector<std::string> words(std::vector<std::string> command) const;
  Result<void> run(std::vector<std::string> command) const;

  std::vector<std::string> command_;
};

}  // namespace ocirun::pods
