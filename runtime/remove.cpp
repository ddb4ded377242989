#include "runtime/remove.hpp"

#include <algorithm>
#include <csignal>

#include "bundle/config.hpp"
#include "linux/procfs.hpp"
#include "runtime/cgroup_choice.hpp"
#include "runtime/container.hpp"
#include "runtime/destroy.hpp"
#include "runtime/kill.hpp"

namespace ocirun::runtime {
namespace {

// Two containers may name one cgroupsPath. The second one's create fails while the first one has
// processes, but leaves its intent when it is killed; once the first has ended, it works.
bool another_owns_cgroup(const Store& store, const ContainerId& id, const cgroups::Record& cgroup) {
  if (cgroup.path.empty()) return false;
  const auto ids = store.ids();
  if (!ids) return false;
  return std::ranges::any_of(*ids, [&](const std::string& text) {
    const auto other = ContainerId::parse(text);
    if (!other || text == id.string()) return false;
    const auto directory = store.find(*other);
    if (!directory) return false;
    if (const auto record = directory->read_record()) return record->cgroup.path == cgroup.path;
    const auto intent = directory->read_intent();
    return intent && intent->record.cgroup.path == cgroup.path;
  });
}

// The processes of a container that has stopped are another's where one has its cgroup by now.
void forget_taken_cgroup(const Store& store, const ContainerId& id, bundle::ContainerRecord& record,
                         const Log& log) {
  if (linux::is_alive({record.init_pid, record.init_start_time})) return;
  const auto cgroup = cgroup_of(record);
  const auto pids = cgroup ? (*cgroup)->pids() : Result<std::vector<int>>{};
  if (!pids || pids->empty() || !another_owns_cgroup(store, id, record.cgroup)) return;
  log.warn(
      fmt::format("the cgroup {} is another container's by now: left alone", record.cgroup.path));
  record.cgroup = {};
}

// Where `create` would put it: by the snapshot of config.json, or if that is damaged too, by its
// id. An empty record where that cannot be told.
cgroups::Record probable_cgroup(GlobalOptions options, const StateDirectory& directory,
                                const ContainerId& id) {
  const auto procfs = linux::Procfs::open(linux::Procfs::Subset::kProcesses);
  const auto layout = procfs ? cgroups::read_layout(*procfs) : Result<cgroups::Layout>();
  if (!layout || options.cgroup_manager == CgroupManager::kDisabled) return {};
  bundle::Config config;
  if (const auto text = directory.read_config())
    if (auto parsed = bundle::parse_config(*text, HostPath("/")).take())
      config = std::move(*parsed);
  if (config.cgroups_path)
    options.cgroup_manager = std::ranges::count(*config.cgroups_path, ':') == 2
                                 ? CgroupManager::kSystemd
                                 : CgroupManager::kCgroupfs;
  const auto cgroup = plan_cgroup(options, *layout, config, id.string());
  return cgroup ? (*cgroup)->record() : cgroups::Record{};
}

// Without a record nothing proves that a cgroup is this container's: another state root may have
// one of that id, and a create that was killed early has made none. Errors: somebody is in it.
Result<void> check_nobody_is_left(const Store& store, const ContainerId& id,
                                  const cgroups::Record& probable) {
  if (probable.path.empty() || another_owns_cgroup(store, id, probable)) return {};
  const auto cgroup = cgroups::open_cgroup(probable);
  const auto pids = cgroup ? (*cgroup)->pids() : Result<std::vector<int>>{};
  if (!pids || pids->empty()) return {};
  return refuse(
      "state.json and intent.json are damaged or gone, and the processes in the cgroup {} need not "
      "be this container's: end them, then delete it again",
      probable.path);
}

// What can be known of a container: the state file, else the intent, else its id alone. Errors: a
// file that could not be read for want of something is no damaged file.
Result<bundle::ContainerRecord> best_record(const GlobalOptions& options, const Store& store,
                                            const StateDirectory& directory,
                                            const ContainerId& id) {
  auto record = directory.read_record();
  if (record || is_shortage(record.error().number())) return record;
  bundle::ContainerRecord guess;
  guess.id = id.string();
  auto intent = directory.read_intent();
  if (!intent && is_shortage(intent.error().number()))
    return std::unexpected(std::move(intent).error());
  if (intent) return std::move(intent->record);
  TRY(directory.check_is_state());  // else a wrong --root would have us remove what lies there
  if (refuse_foreign(directory))
    TRY(check_nobody_is_left(store, id, probable_cgroup(options, directory, id)));
  return guess;
}

constexpr std::chrono::milliseconds kBriefPatience{1000};

// The first process of a container whose create waits for it: recorded, or the creator's child in
// its cgroup. Of whoever else is there nothing is known.
void kill_unborn(const bundle::IntentRecord& intent) {
  const linux::ProcessIdentity init{intent.record.init_pid, intent.record.init_start_time};
  if (init.pid != 0) {
    [[maybe_unused]] const auto ignored = linux::send_signal(init, SIGKILL);
    return;
  }
  if (!linux::is_alive({intent.runtime_pid, intent.runtime_start_time})) return;
  const auto cgroup = cgroup_of(intent.record);
  const auto pids = cgroup ? (*cgroup)->pids() : Result<std::vector<int>>{};
  if (!pids) return;
  for (const int pid : *pids)
    if (const auto stat = linux::read_process_stat(pid); stat && stat->parent == intent.runtime_pid)
        [[maybe_unused]]
      const auto ignored = linux::send_signal({pid, stat->start_time}, SIGKILL);
}

// Who holds the lock may wait for the container itself, which need not ever let it go: `start`, for
// a startContainer hook, say. Its death does.
Result<void> lock_by_force(const Store& store, const ContainerId& id,
                           const StateDirectory& directory) {
  if (directory.lock(kBriefPatience)) return {};
  if (const auto container = Container::load(store, id)) {
    [[maybe_unused]] const auto ignored = kill_container(*container, SIGKILL, KillScope::kInit);
  } else if (const auto intent = directory.read_intent(); intent && refuse_foreign(directory)) {
    kill_unborn(*intent);
  }
  return directory.lock(kLockPatience);
}

Result<void> delete_by_force(const GlobalOptions& options, const ContainerId& id, const Log& log) {
  TRY_ASSIGN(const Store store, Store::open(options.root, MissingRoot::kIsEmpty));
  const auto directory = store.find(id);
  if (!directory && is_shortage(directory.error().number()))
    return std::unexpected(directory.error());
  if (!directory) return {};  // containerd's shim asks for every container a second time
  TRY(lock_by_force(store, id, *directory));
  if (!directory->exists()) return {};  // a create that we ended has taken all back
  TRY_ASSIGN(bundle::ContainerRecord record, best_record(options, store, *directory, id));
  TRY(check_ownership(*directory, record));
  forget_taken_cgroup(store, id, record, log);
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
  forget_taken_cgroup(store, id, record, log);
  return destroy_container(container.directory(), record, log);
}

}  // namespace ocirun::runtime
