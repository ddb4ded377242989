#pragma once

#include "runtime/cli/command.hpp"

namespace ocirun::runtime::cli {

// The commands. Each returns the exit status.
Result<int> run_checkpoint(const Invocation&);
Result<int> run_create(const Invocation&);
Result<int> run_delete(const Invocation&);
Result<int> run_events(const Invocation&);
Result<int> run_exec(const Invocation&);
Result<int> run_features(const Invocation&);
Result<int> run_completion(const Invocation&);
Result<int> run_kill(const Invocation&);
Result<int> run_list(const Invocation&);
Result<int> run_pause(const Invocation&);
Result<int> run_ps(const Invocation&);
Result<int> run_restore(const Invocation&);
Result<int> run_resume(const Invocation&);
Result<int> run_run(const Invocation&);
Result<int> run_spec(const Invocation&);
Result<int> run_start(const Invocation&);
Result<int> run_state(const Invocation&);
Result<int> run_update(const Invocation&);
Result<int> run_validate(const Invocation&);

/// Executes the program of the command `pod`. `options`: the words before the command; `operands`:
/// those behind it. Returns only if that fails.
Error become_pod_program(std::span<const std::string> options,
                         std::span<const std::string> operands);

/// Prints to stdout. Errors: it is closed or full.
Result<void> print(std::string_view text);

}  // namespace ocirun::runtime::cli
