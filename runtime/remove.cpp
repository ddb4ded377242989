#include "runtime/remove.hpp"

#include <algorithm>
#include <csignal>

#include "runtime/container.hpp"
#include "runtime/destroy.hpp"
#include "runtime/kill.hpp"

namespace ocirun::runtime {
namespace {

// Two containers may name one cgroupsPath. The second one's create fails while the first one has
// processes, but leaves its intent when it is killed; once the first has ended, it works.
bool another_owns_cgroup(const Store& store, const ContainerId& id, const cgroups::Record& cgroup) {
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

// What can be known of a container: the state file, else the intent, else its id alone. Errors: a
// file that could not be read for want of something is no damaged file.
Result<bundle::ContainerRecord> best_record(const StateDirectory& directory,
                                            const ContainerId& id) {
  auto record = directory.read_record();
  if (record || is_shortage(record.error().number())) return record;
  bundle::ContainerRecord guess;
  guess.id = id.string();
  auto intent = directory.read_intent();
  if (!intent && is_shortage(intent.error().number()))
    return std::unexpected(std::move(intent).error());
  if (intent)
    guess = std::move(intent->record);
  else
    TRY(directory.check_is_state());  // else a wrong --root would have us remove what lies there
  return guess;
}

constexpr std::chrono::milliseconds kBriefPatience{1000};

// Who holds the lock may wait for the container itself, which need not ever let it go: `start`, for
// a startContainer hook, say. Its death does.
Result<void> lock_by_force(const GlobalOptions& options, const ContainerId& id,
                           const StateDirectory& directory) {
  if (directory.lock(kBriefPatience)) return {};
  if (const auto container = Container::load(options, id)) [[maybe_unused]]
    const auto ignored = kill_container(*container, SIGKILL, KillScope::kInit);
  return directory.lock(kLockPatience);
}

Result<void> delete_by_force(const GlobalOptions& options, const ContainerId& id, const Log& log) {
  TRY_ASSIGN(const Store store, Store::open(options.root, MissingRoot::kIsEmpty));
  const auto directory = store.find(id);
  if (!directory && is_shortage(directory.error().number()))
    return std::unexpected(directory.error());
  if (!directory) return {};  // containerd's shim asks for every container a second time
  TRY(lock_by_force(options, id, *directory));
  TRY_ASSIGN(bundle::ContainerRecord record, best_record(*directory, id));
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
