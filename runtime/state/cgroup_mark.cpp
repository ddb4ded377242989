#include "runtime/state/cgroup_mark.hpp"

#include <algorithm>
#include <utility>

#include "cgroups/container/record.hpp"
#include "linux/base/patience.hpp"
#include "linux/files/procfs.hpp"
#include "runtime/base/options.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {
namespace {

// The time that was_made() waits: the holder of a systemd scope (cgroups/systemd/client.hpp) ends a
// moment after a `create` that was killed.
constexpr std::chrono::milliseconds kHolderPatience{1000};

bool is_populated(const bundle::ContainerRecord& record) {
  const auto cgroup = cgroup_of(record);
  const auto pids = cgroup ? (*cgroup)->pids() : Result<std::vector<int>>{};
  return pids && !pids->empty();
}

// Whether the record or the intent of another container names the same cgroup. Two containers can
// name one cgroup: `create` refuses only a cgroup with processes, and a killed `create` leaves an
// intent.
bool another_names_it(const Store& store, const bundle::ContainerRecord& record) {
  const auto ids = store.ids();
  if (!ids) return false;
  return std::ranges::any_of(*ids, [&](const std::string& text) {
    const auto other = ContainerId::parse(text);
    if (!other || text == record.id) return false;
    const auto directory = store.find(*other);
    // Files of another user prove nothing: in a shared state root, that user can write anything.
    if (!directory || directory->owner().value_or(record.owner_uid) != record.owner_uid)
      return false;
    if (const auto its = directory->read_record()) return its->cgroup.path == record.cgroup.path;
    const auto intent = directory->read_intent();
    return intent && intent->record.cgroup.path == record.cgroup.path;
  });
}

bool is_ours(const cgroups::Mark& mark, const bundle::ContainerRecord& record) {
  return !record.cgroup_mark.empty() && mark.text.starts_with(record.cgroup_mark);
}

// Whether no process of a container whose init has ended can change the mark. The processes of a
// pid namespace end with the init of the namespace. A mark that root of the host has written can be
// changed only with CAP_SYS_ADMIN of the host.
bool cannot_change_mark(const bundle::ContainerRecord& record) {
  return record.own_pid_namespace || (is_host_root() && record.owner_uid == 0);
}

// Whether a `create` that was killed made the cgroup. The init of this `create` never ran a program
// that could change the mark.
bool was_made(const bundle::ContainerRecord& record) {
  for (linux::Patience patience(kHolderPatience);;) {
    const auto mark = cgroups::read_mark(record.cgroup);
    if (mark && is_ours(*mark, record)) return true;
    if (!is_populated(record) || !patience.wait()) return false;
  }
}

}  // namespace

Result<void> mark_cgroup(const bundle::ContainerRecord& record) {
  cgroups::Record told = record.cgroup;
  told.directories.clear();  // planned_record() derives the directories from the path
  return cgroups::write_mark(record.cgroup, record.cgroup_mark + bundle::cgroup_text(told));
}

bool bears_mark_of_another(const bundle::ContainerRecord& record) {
  const auto mark = cgroups::read_mark(record.cgroup);
  return mark && mark->written_by_root && !is_ours(*mark, record);
}

Result<bool> is_of_another(const Store& store, const StateDirectory& directory,
                           const bundle::ContainerRecord& record) {
  OCIRUN_TRY_ASSIGN(const cgroups::Mark mark, cgroups::read_mark(record.cgroup));
  if (is_ours(mark, record)) return false;
  if (mark.written_by_root) return true;  // the other container may have no process there yet
  if (!is_populated(record)) return false;
  if (record.cgroup_mark.empty()) return another_names_it(store, record);
  if (!directory.is_committed()) return !was_made(record);
  // An ordinary user's container without a pid namespace may have changed the mark.
  return cannot_change_mark(record) || another_names_it(store, record);
}

Result<std::optional<MarkedCgroup>> find_cgroup_of(const StateDirectory& directory) {
  OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                    linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  const auto layout = cgroups::read_layout(procfs);
  if (!layout && layout.error().number() == 0) return std::nullopt;  // no cgroups are mounted
  OCIRUN_TRY(layout);
  OCIRUN_TRY_ASSIGN(const std::string identity, directory.identity());
  OCIRUN_TRY_ASSIGN(const auto marked, cgroups::find_marks(procfs, *layout, identity));
  const bool only_marks_of_root = is_host_root() && belongs_to_caller(directory);
  std::optional<MarkedCgroup> found;
  for (const auto& [path, mark] : marked) {
    if (only_marks_of_root && !mark.written_by_root) continue;
    // The container may have copied its mark to other cgroups: to cgroups below its own, or to
    // cgroups elsewhere if an ordinary user runs the container. A mark that root wrote wins over
    // any other mark. Otherwise the mark with the shortest path wins.
    if (found && std::pair(!mark.written_by_root, path.size()) >=
                     std::pair(!found->is_proven, found->record.path.size()))
      continue;
    found = {.record = cgroups::planned_record(*layout, {path}), .is_proven = mark.written_by_root};
    const auto told = bundle::parse_cgroup(std::string_view(mark.text).substr(identity.size()));
    if (!mark.written_by_root || !told || told->path != path) continue;
    found->record.created_parents = told->created_parents;
    found->record.handed_down = told->handed_down;
    found->record.unit = told->unit;
    found->record.user_instance = told->user_instance;
  }
  return found;
}

}  // namespace ocirun::runtime
