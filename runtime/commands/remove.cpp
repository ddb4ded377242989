#include "runtime/commands/remove.hpp"

#include <algorithm>
#include <csignal>

#include "bundle/config/config.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/commands/destroy.hpp"
#include "runtime/commands/kill.hpp"
#include "runtime/parent/cgroup_choice.hpp"
#include "runtime/state/cgroup_mark.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {
namespace {

// Drops the cgroup from the record if the cgroup belongs to another container now, so that `delete`
// kills no process of the other container.
Result<void> forget_taken_cgroup(const Store& store, const StateDirectory& directory,
                                 bundle::ContainerRecord& record, const Log& log) {
  if (linux::is_alive(record.init())) return {};
  OCIRUN_TRY_ASSIGN(const bool is_taken, is_of_another(store, directory, record));
  if (!is_taken) return {};
  log.warn(
      fmt::format("the cgroup {} does not belong to this container, or no longer: it is left alone",
                  record.cgroup.path));
  record.cgroup = {};
  return {};
}

// Reads the record from state.json, or else from intent.json, or else makes a record from the
// marked cgroup. A transient error is returned at once, because the file may be intact.
Result<bundle::ContainerRecord> best_record(const GlobalOptions& options,
                                            const StateDirectory& directory, const ContainerId& id,
                                            const Log& log) {
  auto record = directory.read_record();
  if (record || is_transient(record.error().number())) return record;
  auto intent = directory.read_intent();
  if (intent) return std::move(intent->record);
  if (is_transient(intent.error().number())) return std::unexpected(std::move(intent).error());
  return record_without_files(options, directory, id, log);
}

constexpr std::chrono::milliseconds kBriefPatience{1000};

// Kills the first process of a container for which `create` still waits. The first process is the
// recorded init, or else a child of the `create` process in the cgroup. Other processes in the
// cgroup may belong to anybody.
void kill_unborn(const bundle::IntentRecord& intent) {
  const linux::ProcessIdentity init = intent.record.init();
  if (init.pid != 0) {
    ignore(linux::send_signal(init, SIGKILL));
    return;
  }
  if (!linux::is_alive(intent.runtime())) return;
  const auto cgroup = cgroup_of(intent.record);
  const auto pids = cgroup ? (*cgroup)->pids() : Result<std::vector<int>>{};
  if (!pids) return;
  for (const int pid : *pids)
    if (const auto stat = linux::read_process_stat(pid); stat && stat->parent == intent.runtime_pid)
      ignore(linux::send_signal({pid, stat->start_time}, SIGKILL));
}

// The command that holds the lock may wait for the container without limit, as `start` waits for a
// startContainer hook. The death of init ends this wait.
Result<void> lock_by_force(const Store& store, const ContainerId& id,
                           const StateDirectory& directory) {
  if (directory.lock(kBriefPatience)) return {};
  if (const auto container = Container::load(store, id)) {
    ignore(kill_container(*container, SIGKILL, KillScope::kInit));
  } else if (const auto intent = directory.read_intent(); intent && belongs_to_caller(directory)) {
    kill_unborn(*intent);
  }
  return directory.lock(lock_patience(directory));
}

Result<void> delete_by_force(const GlobalOptions& options, const ContainerId& id, const Log& log) {
  OCIRUN_TRY_ASSIGN(const Store store, Store::open(options.root, MissingRoot::kIsEmpty));
  const auto directory = store.find(id);
  if (!directory) {
    // An error without an errno says that no container has this id. `delete --force` succeeds then,
    // because the shim of containerd deletes each container twice.
    if (directory.error().number() == 0) return {};
    return std::unexpected(directory.error());
  }
  OCIRUN_TRY(lock_by_force(store, id, *directory));
  if (!directory->exists()) return {};  // `create` has undone all its steps after init was killed
  OCIRUN_TRY_ASSIGN(bundle::ContainerRecord record, best_record(options, *directory, id, log));
  OCIRUN_TRY(check_foreign_record(*directory, record));
  OCIRUN_TRY(forget_taken_cgroup(store, *directory, record, log));
  return destroy_container(*directory, record, log);
}

}  // namespace

Result<void> delete_container(const GlobalOptions& options, const ContainerId& id, Force force,
                              const Log& log) {
  if (force == Force::kYes) return delete_by_force(options, id, log);
  OCIRUN_TRY_ASSIGN(const Store store, Store::open(options.root, MissingRoot::kIsEmpty));
  OCIRUN_TRY_ASSIGN(Container container, Container::load(store, id));
  OCIRUN_TRY(container.lock_and_reload());
  const Status status = container.status();
  if (!can_delete(status))
    return refuse(
        "cannot delete container {} that is not stopped: {}; kill it first, or give --force",
        id.string(), status_name(status));
  bundle::ContainerRecord record = container.record();
  OCIRUN_TRY(forget_taken_cgroup(store, container.directory(), record, log));
  return destroy_container(container.directory(), record, log);
}

namespace {

// The cgroup that `create` would choose by the saved config.json, or by the id if the saved
// config.json is damaged. Empty if the cgroup cannot be determined.
cgroups::Record probable_cgroup(GlobalOptions options, const StateDirectory& directory,
                                const ContainerId& id) {
  const auto procfs = linux::Procfs::open(linux::Procfs::Subset::kProcesses);
  const auto layout = procfs ? cgroups::read_layout(*procfs) : Result<cgroups::Layout>();
  if (!layout || options.cgroup_manager == CgroupManager::kDisabled) return {};
  const bundle::Config config = directory.read_snapshot("/").value_or(bundle::Config());
  if (config.cgroups_path)
    options.cgroup_manager = std::ranges::count(*config.cgroups_path, ':') == 2
                                 ? CgroupManager::kSystemd
                                 : CgroupManager::kCgroupfs;
  const auto cgroup = plan_cgroup(options, *layout, config, id.string());
  return cgroup ? (*cgroup)->record() : cgroups::Record{};
}

// Error: the cgroup has processes, and no mark gives the cgroup to another container. The processes
// may belong to another container all the same: a container of an ordinary user can remove its
// mark, and older kernels keep no marks.
Result<void> check_nobody_is_left(const bundle::ContainerRecord& probable) {
  const auto cgroup = cgroup_of(probable);
  const auto pids = cgroup ? (*cgroup)->pids() : Result<std::vector<int>>{};
  if (!pids || pids->empty() || bears_mark_of_another(probable)) return {};
  return refuse(
      "state.json and intent.json are damaged or gone, and the processes in the cgroup {} may "
      "belong to another container: check and end them, then repeat delete --force",
      probable.cgroup.path);
}

}  // namespace

Result<bundle::ContainerRecord> record_without_files(const GlobalOptions& options,
                                                     const StateDirectory& directory,
                                                     const ContainerId& id, const Log& log) {
  OCIRUN_TRY(directory.check_is_state());  // a wrong --root could make `delete` remove other files
  bundle::ContainerRecord guess;
  guess.id = id.string();
  OCIRUN_TRY_ASSIGN(guess.cgroup_mark, directory.identity());
  OCIRUN_TRY_ASSIGN(guess.boot_id, linux::read_boot_id());
  OCIRUN_TRY_ASSIGN(const auto marked, within(find_cgroup_of(directory), "look for its cgroup"));
  if (!marked || !marked->is_proven) {
    bundle::ContainerRecord probable = guess;
    probable.cgroup = probable_cgroup(options, directory, id);
    if (!marked || marked->record.path != probable.cgroup.path)
      OCIRUN_TRY(check_nobody_is_left(probable));
  }
  if (marked) guess.cgroup = marked->record;
  log.warn(fmt::format(
      "state.json and intent.json are damaged or gone: {}; unknown, and left as they are: "
      "poststop hooks, a resctrl group, a root filesystem mounted on the host, namespaces of "
      "--pin-namespaces (umount -R DIR), processes outside of the cgroup",
      marked ? fmt::format("the cgroup {}, which has the container's mark, is removed",
                           marked->record.path)
             : "no cgroup has the container's mark, so none is removed"));
  return guess;
}

}  // namespace ocirun::runtime
