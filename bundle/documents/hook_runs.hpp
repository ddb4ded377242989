#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hooks/run_hook.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::bundle {

/// A hook that has run, as the file hooks.json of a state directory has it.
struct HookRecord {
  std::string pointer;       // "/hooks/createRuntime/0"
  std::string started;       // "2026-11-30T19:04:05Z"
  std::uint64_t lasted = 0;  // milliseconds
  std::string error;         // "": the hook succeeded
};

inline constexpr char kHookRuns[] = "hooks.json";

/// "/hooks/createRuntime/0"
std::string hook_pointer(hooks::Kind kind, std::size_t index);
/// Adds `runs` to the file. Does nothing without runs. The caller holds the container's lock.
/// Errors: more than 1,000 hooks have run.
Result<void> append_hook_runs(Fd directory, std::span<const hooks::HookRun> runs);
/// No runs if there is no such file. Errors: the file is damaged.
Result<std::vector<HookRecord>> read_hook_runs(Fd directory);

}  // namespace ocirun::bundle
