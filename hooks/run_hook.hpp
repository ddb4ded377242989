#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hooks/hook.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::hooks {

/// What a hook gets, whatever its kind.
struct Surroundings {
  std::string state = {};   // the state document on its stdin, then end of file (H-7)
  HostPath directory = {};  // its working directory; "/" where that is gone
  Fd directory_itself =
      Fd{};  // the working directory as a descriptor, instead of the path; -1: none
  /// For a hook without `env` (H-4); without a value the caller's own environment.
  std::optional<std::vector<std::string>> default_env = {};
  /// Told what the operator should know meanwhile; may be empty.
  std::function<void(std::string_view)> warn = {};
  /// Called in the hook's process as the last act before execve; may be empty.
  std::function<Result<void>()> confine = {};
  Fd interrupt = Fd{};  // readable when somebody may want the hook to end; -1: nobody
  std::function<Result<void>()> check_interrupt = {};  // asked then: an error ends the hook
  /// Where the hook's path leads, as linux::explain_exec() takes it.
  std::string_view place = "on the host";
};

/// Runs one hook in the caller's namespaces and waits for it: own session, no descriptor but 0, 1
/// and 2, default signals. Its output is kept for the error. After `timeout` its process group is
/// killed; without one it may take as long as it likes, which `warn` hears every 10 s, beginning
/// with `name`. An interrupt kills the group too. Errors: "exit status 3: <tail of its output>",
/// "killed by signal 9", "timed out after 5 s", that of check_interrupt, or why it could not be
/// executed, a missing interpreter by its name.
Result<void> run_hook(const Hook& hook, std::string_view name, const Surroundings& surroundings);

}  // namespace ocirun::hooks
