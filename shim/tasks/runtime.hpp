#pragma once

#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "shim/loop/async.hpp"
#include "shim/loop/children.hpp"
#include "shim/options/runtime_record.hpp"

namespace ocirun::shim {

/// Runs commands of a runtime, each in a process of its own.
class Runtime {
 public:
  /// The paths of the runtime's logs begin with `scratch_prefix`. The bundle may be gone.
  Runtime(Children& children, RuntimeRecord choice, std::string scratch_prefix)
      : children_(&children),
        choice_(std::move(choice)),
        scratch_prefix_(std::move(scratch_prefix)) {}

  const RuntimeRecord& choice() const { return choice_; }

  /// Runs a command to its end. `streams` are its descriptors 0, 1 and 2; without streams they are
  /// /dev/null. Errors: the runtime cannot be started; it fails: the error is what its log says
  /// last.
  Async<Result<void>> run(std::vector<std::string> words, std::vector<Fd> streams = {}) const;
  /// Runs a command as run() does, with `input` as standard input. Returns what the command writes,
  /// at most 16 MiB.
  Async<Result<std::string>> ask(std::vector<std::string> words, std::string input = {}) const;

 private:
  Children* children_;
  RuntimeRecord choice_;
  std::string scratch_prefix_;
};

}  // namespace ocirun::shim
