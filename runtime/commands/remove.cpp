#include "runtime/commands/remove.hpp"

#include <csignal>

#include "linux/files/procfs.hpp"
#include "runtime/commands/destroy.hpp"
#include "runtime/commands/kill.hpp"
#include "runtime/commands/lost_record.hpp"
#include "runtime/state/cgroup_mark.hpp"
#include "runtime/state/container.hpp"
#include "runtime/state/record.hpp"

namespace ocirun::runtime {
namespace {

// Drops the cgroup from the record if that cgroup is another container's now, so that nobody in it
// is killed.
Result<void> forget_taken_cgroup(const Store& store, const StateDirectory& directory,
                                 bundle::ContainerRecord& record, const Log& log) {
  if (linux::is_alive(record.init())) return {};
  TRY_ASSIGN(const bool is_taken, is_of_another(store, directory, record));
  if (!is_taken) return {};
  log.warn(
      fmt::format("the cgroup {} does not belong to this container, or no longer: it is left alone",
                  record.cgroup.path));
  record.cgroup = {};
  return {};
}

// The best record of the container: from the state file, else the intent, else the marked cgroup.
// Errors: a shortage, because a file that cannot be read now is not a damaged file.
Result<bundle::ContainerRecord> best_record(const GlobalOptions& options,
                                            const StateDirectory& directory, const ContainerId& id,
                                            const Log& log) {
  auto record = directory.read_record();
  if (record || is_shortage(record.error().number())) return record;
  auto intent = directory.read_intent();
  if (intent) return std::move(intent->record);
  if (is_shortage(intent.error().number())) return std::unexpected(std::move(intent).error());
  return record_without_files(options, directory, id, log);
}

constexpr std::chrono::milliseconds kBriefPatience{1000};

// Kills the first process of a container whose `create` waits for it: the recorded init, or a child
// of the creator in the cgroup. Other processes in the cgroup may be anybody's.
void kill_unborn(const bundle::IntentRecord& intent) {
  const linux::ProcessIdentity init = intent.record.init();
  if (init.pid != 0) {
    [[maybe_unused]] const auto ignored = linux::send_signal(init, SIGKILL);
    return;
  }
  if (!linux::is_alive(intent.runtime())) return;
  const auto cgroup = cgroup_of(intent.record);
  const auto pids = cgroup ? (*cgroup)->pids() : Result<std::vector<int>>{};
  if (!pids) return;
  for (const int pid : *pids)
    if (const auto stat = linux::read_process_stat(pid); stat && stat->parent == intent.runtime_pid)
        [[maybe_unused]]
      const auto ignored = linux::send_signal({pid, stat->start_time}, SIGKILL);
}

// The holder of the lock may wait without end for the container, as `start` does for a
// startContainer hook. The death of init ends that wait.
Result<void> lock_by_force(const Store& store, const ContainerId& id,
                           const StateDirectory& directory) {
  if (directory.lock(kBriefPatience)) return {};
  if (const auto container = Container::load(store, id)) {
    [[maybe_unused]] const auto ignored = kill_container(*container, SIGKILL, KillScope::kInit);
  } else if (const auto intent = directory.read_intent(); intent && is_callers(directory)) {
    kill_unborn(*intent);
  }
  return directory.lock(lock_patience(directory));
}

Result<void> delete_by_force(const GlobalOptions& options, const ContainerId& id, const Log& log) {
  TRY_ASSIGN(const Store store, Store::open(options.root, MissingRoot::kIsEmpty));
  const auto directory = store.find(id);
  if (!directory) {
    // Without an errno: there is no such container. containerd's shim deletes each one twice.
    if (directory.error().number() == 0) return {};
    return std::unexpected(directory.error());
  }
  TRY(lock_by_force(store, id, *directory));
  if (!directory->exists()) return {};  // the `create` whose init was killed has undone everything
  TRY_ASSIGN(bundle::ContainerRecord record, best_record(options, *directory, id, log));
  TRY(keep_what_owner_owns(*directory, record));
  TRY(forget_taken_cgroup(store, *directory, record, log));
  return destroy_container(*directory, record, log);
}

}  // namespace

Result<void> delete_container(const GlobalOptions& options, const ContainerId& id, Force force,
                              const Log& log) {
  if (force == Force::kYes) return delete_by_force(options, id, log);
  TRY_ASSIGN(const Store store, Store::open(options.root, MissingRoot::kIsEmpty));
  TRY_ASSIGN(Container container, Container::load(store, id));
  TRY(container.lock_and_reload());
  const Status status = container.status();
  if (!can_delete(status))
    return refuse(
        "cannot delete container {} that is not stopped: {}; kill it first, or give --force",
        id.string(), status_name(status));
  bundle::ContainerRecord record = container.record();
  TRY(forget_taken_cgroup(store, container.directory(), record, log));
  return destroy_container(container.directory(), record, log);
}

}  // namespace ocirun::runtime
