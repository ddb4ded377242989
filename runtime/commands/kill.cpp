#include "runtime/commands/kill.hpp"

#include <cerrno>
#include <csignal>

#include "runtime/commands/processes.hpp"
#include "runtime/state/cgroup_mark.hpp"

namespace ocirun::runtime {

namespace {

// Whether the cgroup is another container's now, by its mark or by that container's record.
Result<bool> cgroup_is_of_another(const Container& container) {
  const std::string& path = container.directory().path().string();
  const HostPath root(path.substr(0, path.rfind('/')));
  TRY_ASSIGN(const Store store, Store::open(root, MissingRoot::kIsEmpty));
  return is_of_another(store, container.directory(), container.record());
}

// The number of processes that outlive init in the container's cgroup. With its own pid namespace
// there are none: processes in that cgroup are not the container's any more.
std::size_t count_left(const Container& container) {
  const bundle::ContainerRecord& record = container.record();
  if (record.own_pid_namespace || record.cgroup_manager == CgroupManager::kDisabled) return 0;
  const auto is_anothers = cgroup_is_of_another(container);
  if (!is_anothers || *is_anothers) return 0;
  const auto cgroup = container.cgroup();
  const auto pids = cgroup ? (*cgroup)->pids() : Result<std::vector<int>>{};
  return pids ? pids->size() : 0;
}

std::unexpected<Error> refuse_stopped(const Container& container) {
  const std::size_t left = count_left(container);
  if (left == 0) return refuse("container not running");
  return refuse(
      "container not running: its init has ended, but {} process{} left in its cgroup; end {} with "
      "kill {} KILL, or with delete --force {}",
      left, left == 1 ? " is" : "es are", left == 1 ? "it" : "them", container.record().id,
      container.record().id);
}

// Signals the processes that a dead init has left. Without --all a container that has left none is
// stopped: CRI-O ends a container by KILL, and counts on the end of its children in a shared pid
// namespace.
Result<std::size_t> signal_left(const Container& container, int signal, KillScope scope) {
  const bundle::ContainerRecord& record = container.record();
  const std::size_t left = count_left(container);
  if (scope == KillScope::kInit && left == 0) return refuse_stopped(container);
  // All processes of a pid namespace end with init. Processes in that cgroup are not the
  // container's.
  if (record.own_pid_namespace) return 0;
  TRY_ASSIGN(const bool is_anothers, cgroup_is_of_another(container));
  if (is_anothers) return 0;
  if (record.cgroup_manager == CgroupManager::kDisabled) return refuse_stopped(container);
  TRY_ASSIGN(const auto cgroup, container.cgroup());
  TRY(cgroup->signal_all(signal));
  return left;
}

}  // namespace

Result<std::size_t> kill_container(const Container& container, int signal, KillScope scope) {
  const bool everybody =
      scope == KillScope::kAll || (signal == SIGKILL && !container.record().own_pid_namespace);
  const Status status = container.status();
  if (everybody && status == Status::kStopped) return signal_left(container, signal, scope);
  if (everybody && (can_kill(status) || scope == KillScope::kAll)) {
    if (container.record().cgroup_manager != CgroupManager::kDisabled) {
      TRY_ASSIGN(const auto cgroup, container.cgroup());
      TRY(cgroup->signal_all(signal));
      return 0;
    }
    // In another user's container only init is signalled: it was checked to belong to that user.
    if (can_kill(status) && is_callers(container.directory()))
      TRY(signal_without_cgroup(container.init(), container.record().own_pid_namespace, signal));
  }
  if (!can_kill(status)) return refuse_stopped(container);
  auto sent = linux::send_signal(container.init(), signal);
  if (!sent && sent.error().number() == ESRCH) return refuse_stopped(container);
  TRY(sent);
  if (signal == SIGKILL && status == Status::kPaused) {  // a frozen process dies when it is thawed
    TRY_ASSIGN(const auto cgroup, container.cgroup());
    TRY(cgroup->freeze(cgroups::FreezerState::kThawed));
  }
  return 0;
}

}  // namespace ocirun::runtime
