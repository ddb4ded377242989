#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/process/clone.hpp"
#include "runtime/base/inheritance.hpp"
#include "runtime/parent/announcement.hpp"
#include "runtime/parent/create_request.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

enum class InPaused { kIsAnError, kIsAllowed };

/// What `exec` is asked for.
struct ExecRequest {
  bundle::Process process;
  std::optional<HostPath> console_socket;
  Announcement announcement;
  TerminalKeeper terminal_keeper = TerminalKeeper::kConsoleSocket;
  InPaused paused = InPaused::kIsAnError;
  std::vector<std::string> cgroups;  // --cgroup, each "path" or "controller[,controller]:path"
  Inheritance inheritance = {};
};

struct ExecutedProcess {
  linux::Child child;
  UniqueFd terminal;                   // the master, for TerminalKeeper::kCaller
  std::uint64_t oom_kills_before = 0;  // Cgroup::oom_kills() before the process was made
};

/// Adds a process to a container that is created or running: its cgroup, all its namespaces, its
/// seccomp filter. Returns when execve has happened. On an error nothing of it is left. Errors: the
/// container's status, those of find_executable().
Result<ExecutedProcess> exec_process(const Container& container, const bundle::Config& config,
                                     const ExecRequest& request, const Log& log);

}  // namespace ocirun::runtime
