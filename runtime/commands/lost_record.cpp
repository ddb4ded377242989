#include "runtime/commands/lost_record.hpp"

#include <algorithm>

#include "bundle/config/config.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/parent/cgroup_choice.hpp"
#include "runtime/state/cgroup_mark.hpp"
#include "runtime/state/record.hpp"

namespace ocirun::runtime {
namespace {

// The cgroup that `create` would choose, by the snapshot of config.json or, if that is damaged too,
// by the id. Empty if it cannot be determined.
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

// Error: the cgroup has processes. They need not be this container's, although no other mark is
// there: a container of an ordinary user can remove its mark, and older kernels keep no marks.
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
  TRY(directory.check_is_state());  // with a wrong --root, something else would be removed
  bundle::ContainerRecord guess;
  guess.id = id.string();
  TRY_ASSIGN(guess.cgroup_mark, directory.identity());
  TRY_ASSIGN(guess.boot_id, linux::read_boot_id());
  TRY_ASSIGN(const auto marked, within(find_cgroup_of(directory), "look for its cgroup"));
  if (!marked || !marked->is_proven) {
    bundle::ContainerRecord probable = guess;
    probable.cgroup = probable_cgroup(options, directory, id);
    if (!marked || marked->record.path != probable.cgroup.path) TRY(check_nobody_is_left(probable));
  }
  if (marked) guess.cgroup = marked->record;
  log.warn(fmt::format(
      "state.json and intent.json are damaged or gone: {}; unknown, and left as they are: "
      "poststop hooks, a resctrl group, a root filesystem mounted on the host, processes "
      "outside of the cgroup",
      marked ? fmt::format("the cgroup {}, which has the container's mark, is removed",
                           marked->record.path)
             : "no cgroup has the container's mark, so none is removed"));
  return guess;
}

}  // namespace ocirun::runtime
