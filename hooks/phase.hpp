#pragma once

#include <string_view>
#include <vector>

#include "hooks/hook.hpp"
#include "hooks/run_hook.hpp"
#include "linux/base/error.hpp"

namespace ocirun::hooks {

/// What happens to the remaining hooks, and to the container, when a hook fails.
enum class FailureRule {
  kAbort,     // the first failure ends the phase with an error, the container is destroyed (H-11,
              // H-12)
  kContinue,  // each failure is a warning, the rest still run, the operation succeeds (H-13, SD-15)
};
FailureRule failure_rule(Kind kind);

/// Runs the hooks of one kind in their order (H-6). `rule` is failure_rule(kind); for poststart of
/// a 0.5 document kContinue (SD-15). Errors: "error running createRuntime hook #1
/// (/usr/bin/setup-net): exit status 3: …", with hooks counted from 0.
Result<void> run_phase(const Hooks& hooks, Kind kind, FailureRule rule,
                       const Surroundings& surroundings);

/// The first words of run_phase()'s errors. Users of engines know them from other runtimes.
inline constexpr std::string_view kHookFailure = "error running";
/// Whether `error` is an error of run_phase(), in this process or in another.
bool is_hook_failure(const Error& error);

}  // namespace ocirun::hooks
