#include "runtime/kill.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <vector>

#include "runtime/processes.hpp"

namespace ocirun::runtime {
namespace {

constexpr int kRounds = 10;

// A container without a cgroup is known by its pid namespace and its descendants. Several rounds,
// because a process may fork while we look. Of another user's container only init is signalled,
// which is checked to be that user's.
Result<void> signal_without_cgroup(const Container& container, int signal) {
  if (!refuse_foreign(container.directory())) return {};
  std::vector<int> done{container.init().pid};  // its turn comes last
  for (int round = 0; round < kRounds; ++round) {
    TRY_ASSIGN(const std::vector<linux::ProcessIdentity> processes,
               find_processes(container.init().pid, container.record().own_pid_namespace));
    if (!linux::is_alive(container.init())) break;  // they may be another process's children
    bool any_new = false;
    for (const linux::ProcessIdentity& process : processes) {
      if (std::ranges::find(done, process.pid) != done.end()) continue;
      // It may be gone already.
      [[maybe_unused]] const auto sent = linux::send_signal(process, signal);
      done.push_back(process.pid);
      any_new = true;
    }
    if (!any_new || signal != SIGKILL) break;
  }
  return {};
}

}  // namespace

Result<void> kill_container(const Container& container, int signal, KillScope scope) {
  const bool everybody =
      scope == KillScope::kAll || (signal == SIGKILL && !container.record().own_pid_namespace);
  const Status status = container.status();
  if (everybody && (can_kill(status) || scope == KillScope::kAll)) {
    if (container.record().cgroup_manager != "disabled") {
      TRY_ASSIGN(const auto cgroup, container.cgroup());
      return cgroup->signal_all(signal);
    }
    if (can_kill(status)) TRY(signal_without_cgroup(container, signal));
  }
  if (!can_kill(status)) return refuse("container not running");
  auto sent = linux::send_signal(container.init(), signal);
  if (!sent && sent.error().number() == ESRCH) return refuse("container not running");
  TRY(sent);
  if (signal == SIGKILL && status == Status::kPaused) {  // a frozen process dies when it is thawed
    TRY_ASSIGN(const auto cgroup, container.cgroup());
    return cgroup->freeze(cgroups::FreezerState::kThawed);
  }
  return {};
}

}  // namespace ocirun::runtime
