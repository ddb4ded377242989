#include "runtime/commands/kill.hpp"

#include <cerrno>
#include <csignal>

#include "runtime/commands/processes.hpp"
#include "runtime/state/cgroup_mark.hpp"

namespace ocirun::runtime {

namespace {

// Whether the cgroup holds no process of the container, whose init has ended. True if the container
// had its own pid namespace, because all its processes ended with init. True if the cgroup belongs
// to another container now, by the mark of the cgroup or by the record of the other container.
Result<bool> cgroup_is_of_others(const Container& container) {
  if (container.record().own_pid_namespace) return true;
  const std::string& path = container.directory().path().string();
  const HostPath root(path.substr(0, path.rfind('/')));
  OCIRUN_TRY_ASSIGN(const Store store, Store::open(root, MissingRoot::kIsEmpty));
  return is_of_another(store, container.directory(), container.record());
}

// The number of processes that outlive init in the container's cgroup. `is_of_others` is the result
// of cgroup_is_of_others().
std::size_t count_left(const Container& container, const Result<bool>& is_of_others) {
  if (container.record().cgroup_manager == CgroupManager::kDisabled) return 0;
  if (!is_of_others || *is_of_others) return 0;
  const auto cgroup = container.cgroup();
  const auto pids = cgroup ? (*cgroup)->pids() : Result<std::vector<int>>{};
  return pids ? pids->size() : 0;
}

std::unexpected<Error> refuse_stopped(const Container& container, std::size_t left) {
  if (left == 0) return refuse("container not running");
  return refuse(
      "container not running: its init has ended, but {} process{} left in its cgroup; end {} with "
      "kill {} KILL, or with delete --force {}",
      left, left == 1 ? " is" : "es are", left == 1 ? "it" : "them", container.record().id,
      container.record().id);
}

std::unexpected<Error> refuse_stopped(const Container& container) {
  return refuse_stopped(container, count_left(container, cgroup_is_of_others(container)));
}

// Signals the processes that outlived init in the cgroup, and returns their number. If no process
// outlived init, this is an error without --all. CRI-O sends KILL to a container in a shared pid
// namespace, and expects that the children of init end as well.
Result<std::size_t> signal_left(const Container& container, int signal, KillScope scope) {
  const Result<bool> is_of_others = cgroup_is_of_others(container);
  const std::size_t left = count_left(container, is_of_others);
  if (scope == KillScope::kInit && left == 0) return refuse_stopped(container, left);
  OCIRUN_TRY(is_of_others);
  if (*is_of_others) return 0;
  if (container.record().cgroup_manager == CgroupManager::kDisabled)
    return refuse_stopped(container, left);
  OCIRUN_TRY_ASSIGN(const auto cgroup, container.cgroup());
  OCIRUN_TRY(cgroup->signal_all(signal));
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
      OCIRUN_TRY_ASSIGN(const auto cgroup, container.cgroup());
      OCIRUN_TRY(cgroup->signal_all(signal));
      return 0;
    }
    // In another user's container only init is signalled, because only init was checked to belong
    // to that user.
    if (can_kill(status) && belongs_to_caller(container.directory()))
      OCIRUN_TRY(
          signal_without_cgroup(container.init(), container.record().own_pid_namespace, signal));
  }
  if (!can_kill(status)) return refuse_stopped(container);
  auto sent = linux::send_signal(container.init(), signal);
  if (!sent && sent.error().number() == ESRCH) return refuse_stopped(container);
  OCIRUN_TRY(sent);
  // In a frozen cgroup of cgroup v1, init dies only after the thaw.
  if (signal == SIGKILL && status == Status::kPaused) {
    OCIRUN_TRY_ASSIGN(const auto cgroup, container.cgroup());
    OCIRUN_TRY(cgroup->freeze(cgroups::FreezerState::kThawed));
  }
  return 0;
}

}  // namespace ocirun::runtime
