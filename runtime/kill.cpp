#include "runtime/kill.hpp"

#include <cerrno>
#include <csignal>

#include "runtime/cgroup_mark.hpp"
#include "runtime/processes.hpp"

namespace ocirun::runtime {

Result<void> kill_container(const Container& container, int signal, KillScope scope) {
  const bool everybody =
      scope == KillScope::kAll || (signal == SIGKILL && !container.record().own_pid_namespace);
  const Status status = container.status();
  if (scope == KillScope::kAll && status == Status::kStopped) {
    // With its pid namespace all have ended; who is in that cgroup by now is not the container's.
    if (container.record().own_pid_namespace) return {};
    TRY_ASSIGN(const bool is_anothers, was_made_anew(container.record()));
    if (is_anothers) return {};
  }
  if (everybody && (can_kill(status) || scope == KillScope::kAll)) {
    if (container.record().cgroup_manager != CgroupManager::kDisabled) {
      TRY_ASSIGN(const auto cgroup, container.cgroup());
      return cgroup->signal_all(signal);
    }
    // Of another user's container only init is signalled, which is checked to be that user's.
    if (can_kill(status) && is_callers(container.directory()))
      TRY(signal_without_cgroup(container.init(), container.record().own_pid_namespace, signal));
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
