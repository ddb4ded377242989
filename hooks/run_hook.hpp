#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hooks/hook.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::hooks {

/// A hook that has run.
struct HookRun {
  Kind kind{};
  std::size_t index = 0;     // among the hooks of its kind
  std::string started = {};  // rfc3339_now(0)
  std::chrono::milliseconds lasted{};
  std::string error = {};  // "exit status 3: …"; "": it succeeded
};

/// The conditions under which hooks run. All hooks of a phase share one Context.
struct Context {
  std::string state = {};   // the state document on the hook's stdin, then end of file (H-7)
  HostPath directory = {};  // the working directory; "/" if it cannot be entered
  Fd directory_itself =
      Fd{};  // the working directory as a descriptor, which counts before `directory`; -1: none
  /// The environment of a hook without `env` (H-4). Absent: the caller's.
  std::optional<std::vector<std::string>> default_env = {};
  /// Gets warnings for the operator while the hook runs; may be empty.
  std::function<void(std::string_view)> warn = {};
  /// Called in the hook's process just before execve(2); may be empty.
  std::function<Result<void>()> confine = {};
  Fd interrupt = Fd{};  // when readable, check_interrupt is called; -1: never
  std::function<Result<void>()> check_interrupt = {};  // an error ends the hook
  /// Where the hook's path is resolved: the `place` of linux::explain_exec().
  std::string_view place = "on the host";
  std::vector<HookRun>* ran = nullptr;  // run_phase() appends each hook that has run
};

/// Runs one hook in the caller's namespaces and waits for its end. The hook has its own session,
/// only the descriptors 0, 1 and 2, and default signal handling. After `timeout`, its process group
/// is killed. Without a timeout, it may run forever: `warn` gets a sentence that begins with `name`
/// every 10 s. An error of check_interrupt kills the group too. Errors: "exit status 3: <end of the
/// hook's output>", "killed by signal 9", "timed out after 5 s", the error of check_interrupt, or
/// why the hook could not be executed, with the name of a missing interpreter.
Result<void> run_hook(const Hook& hook, std::string_view name, const Context& context);

/// The effect of a failed hook on the remaining hooks and on the container.
enum class FailureRule {
  kAbort,     // the first failure ends the phase with an error, the container is destroyed (H-11,
              // H-12)
  kContinue,  // each failure is a warning, the rest still run, the operation succeeds (H-13, SD-15)
};
FailureRule failure_rule(Kind kind);

/// Runs the hooks of one kind in their order (H-6). `rule` is failure_rule(kind); for poststart of
/// a 0.5 document kContinue (SD-15). Errors: "error running createRuntime hook #1
/// (/usr/bin/setup-net): exit status 3: …", with hooks counted from 0.
Result<void> run_phase(const Hooks& hooks, Kind kind, FailureRule rule, const Context& context);

/// The first words of run_phase()'s errors. Users of engines know them from other runtimes.
inline constexpr std::string_view kHookFailure = "error running";
/// Whether `error` is an error of run_phase(), in this process or in another.
bool is_hook_failure(const Error& error);

}  // namespace ocirun::hooks
