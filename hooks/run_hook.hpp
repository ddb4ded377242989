#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hooks/hook.hpp"
#include "linux/error.hpp"

namespace ocirun::hooks {

/// What a hook gets, whatever its kind.
struct Surroundings {
  std::string state;                     // the state document on its stdin, then end of file (H-7)
  HostPath directory;                    // its working directory; "/" where that is gone
  std::vector<std::string> default_env;  // for a hook without `env` (H-4)
  std::function<void(std::string_view)>
      warn;  // what the operator should know meanwhile; may be empty
};

/// Runs one hook in the caller's namespaces and waits for it: own session, no descriptor but 0, 1
/// and 2, default signals. Its output is kept for the error. After `timeout` its process group is
/// killed; without one it may take as long as it likes, which `warn` hears every 10 s. Errors:
/// "exit status 3: <tail of its output>", "killed by signal 9", "timed out after 5 s", or why it
/// could not be executed.
Result<void> run_hook(const Hook& hook, const Surroundings& surroundings);

}  // namespace ocirun::hooks
