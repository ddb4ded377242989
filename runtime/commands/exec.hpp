#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/process/clone.hpp"
#include "runtime/base/options.hpp"
#include "runtime/parent/create_request.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

enum class InPaused { kIsAnError, kIsAllowed };

/// The arguments of `exec`.
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

/// Starts a process in a container that is created or running. The process joins the container's
/// cgroup and namespaces, and gets the container's seccomp filter. Returns when the process has
/// called execve. After an error no process is left. Errors: the container's status does not allow
/// `exec`; those of find_executable().
Result<ExecutedProcess> exec_process(const Container& container, const bundle::Config& config,
                                     const ExecRequest& request, const Log& log);

}  // namespace ocirun::runtime
