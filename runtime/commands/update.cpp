#include "runtime/commands/update.hpp"

#include <algorithm>

#include "bundle/config/config.hpp"
#include "cgroups/plan/resources.hpp"
#include "linux/resctrl/group.hpp"
#include "runtime/base/rollback.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/commands/update_devices.hpp"

namespace ocirun::runtime {
namespace {

/// One update. `undo_` is the last member, because undo steps use the other members.
class Update {
 public:
  Update(Container& container, const UpdateRequest& request, const Warn& warn)
      : container_(container), request_(request), warn_(warn), change_(request.resources) {}

  Result<void> run() {
    OCIRUN_TRY(read_state());
    OCIRUN_TRY(change_nodes());  // first: the nodes decide which device rules change
    OCIRUN_TRY(change_limits());
    OCIRUN_TRY(change_device_rules());
    OCIRUN_TRY(change_schemata());
    OCIRUN_TRY(write_state());
    undo_.commit();
    if (nodes_) nodes_->keep();
    return {};
  }

 private:
  Result<void> read_state();
  Result<void> change_nodes();
  Result<void> change_limits();
  Result<void> change_device_rules();
  Result<void> change_schemata();
  Result<void> write_state();

  Container& container_;
  const UpdateRequest& request_;
  const Warn& warn_;
  cgroups::Resources change_;
  bundle::Config config_;
  bundle::ContainerRecord record_;  // with the changes of this update
  cgroups::Resources before_;       // the values before this update
  std::unique_ptr<cgroups::Cgroup> cgroup_;
  std::optional<DeviceUpdate> nodes_;
  Rollback undo_;
};

bool holds_nothing(const cgroups::Resources& resources) {
  return bundle::resources_text(resources) == bundle::resources_text({});
}

// refuses a memory limit above the limit on memory plus swap, if the update changes only one
// of the two limits. The error names the given option and the missing option.
Result<void> check_limit_that_stays(const cgroups::Memory& change, const cgroups::Memory& before) {
  const bool changes_limit = change.limit.value_or(0) != 0;
  const bool changes_swap = change.swap.value_or(0) != 0;
  const std::int64_t limit = (changes_limit ? change : before).limit.value_or(0);
  const std::int64_t swap = (changes_swap ? change : before).swap.value_or(0);
  if (swap <= 0 || limit <= swap || changes_limit == changes_swap) return {};
  if (changes_limit)
    return refuse(
        "/linux/resources/memory/limit: {} bytes are more than the {} bytes that memory and swap "
        "together may take: give --memory-swap too (memory.swap in a document)",
        limit, swap);
  return refuse(
      "/linux/resources/memory/swap: {} bytes for memory and swap together are less than the {} "
      "bytes that memory may take: give --memory too (memory.limit in a document)",
      swap, limit);
}

/// Adds to a change of memory limits the earlier values on which the change depends.
void complete(cgroups::Memory& change, const cgroups::Memory& before) {
  // the earlier checkBeforeUpdate stays valid if the update does not set it.
  if (!change.check_before_update) change.check_before_update = before.check_before_update;
  // The limit on memory plus swap keeps its value. cgroup v2 limits swap alone, so a new memory
  // limit changes the swap limit of cgroup v2 (memory.swap.max).
  if (change.limit.value_or(0) > 0 && change.swap.value_or(0) == 0) change.swap = before.swap;
  if (change.limit == -1 && change.swap.value_or(0) == 0) change.swap = -1;  // unlimited
}

Result<void> Update::read_state() {
  record_ = container_.record();
  if (const auto warning = bundle::settle_pids_limit(change_, record_.oci_version)) warn_(*warning);
  const bool wants_cgroup = !holds_nothing(change_) || !request_.added_devices.empty() ||
                            !request_.removed_devices.empty();
  if (wants_cgroup && record_.cgroup_manager == CgroupManager::kDisabled)
    return refuse(
        "the container has no cgroup of its own, so no limits and no device rules (create it where "
        "a cgroup is delegated to you, or as root)");
  OCIRUN_TRY_ASSIGN(config_, container_.config());
  OCIRUN_TRY_ASSIGN(const auto updated, container_.directory().read_resources());
  before_ = updated ? *updated : config_.resources.value_or(cgroups::Resources());
  if (change_.memory && before_.memory) {
    OCIRUN_TRY(check_limit_that_stays(*change_.memory, *before_.memory));
    complete(*change_.memory, *before_.memory);
  }
  OCIRUN_TRY_ASSIGN(cgroup_, container_.cgroup());
  cgroup_->on_dropped_limit(warn_);
  return {};
}

Result<void> Update::change_nodes() {
  if (request_.added_devices.empty() && request_.removed_devices.empty()) return {};
  auto begun = DeviceUpdate::begin(container_, config_, request_);
  if (!begun) return std::unexpected(std::move(begun).error());
  nodes_.emplace(std::move(*begun));
  if (!nodes_->left_nodes().empty())
    warn_(fmt::format(
        "the node {} stays in the container, because the container has replaced it; access to "
        "the device is denied",
        nodes_->left_nodes()));
  if (change_.devices.empty()) change_.devices = before_.devices;
  // The last matching rule decides, so the new rules go to the end.
  for (const cgroups::DeviceRule& rule : nodes_->rules()) {
    std::erase(change_.devices, rule);
    change_.devices.push_back(rule);
  }
  return {};
}

Result<void> Update::change_limits() {
  auto old_values = cgroup_->update(change_);
  if (record_.cgroup != cgroup_->record()) {
    // Controllers that the update enabled stay enabled even if the update fails. `delete` reads
    // these controllers from the record.
    record_.cgroup = cgroup_->record();
    OCIRUN_TRY(container_.directory().commit(record_));
  }
  OCIRUN_TRY(old_values);
  undo_.add([this, values = std::move(*old_values)] { cgroup_->restore(values); });
  return {};
}

Result<void> Update::change_device_rules() {
  if (change_.devices.empty()) return {};
  OCIRUN_TRY(cgroup_->change_devices(before_.devices, change_.devices));
  undo_.add([this] { ignore(cgroup_->change_devices(change_.devices, before_.devices)); });
  return {};
}

Result<void> Update::change_schemata() {
  linux::IntelRdt rdt;
  rdt.l3_cache_schema = request_.l3_cache_schema;
  rdt.mem_bw_schema = request_.mem_bw_schema;
  const std::vector<std::string> lines = linux::schema_lines(rdt);
  if (lines.empty()) return {};
  OCIRUN_TRY(linux::check_resctrl(rdt));
  OCIRUN_TRY_ASSIGN(const HostPath root, linux::find_resctrl());
  if (config_.intel_rdt || record_.resctrl) {
    const std::string clos =
        config_.intel_rdt && config_.intel_rdt->clos_id ? *config_.intel_rdt->clos_id : record_.id;
    OCIRUN_TRY_ASSIGN(auto old_lines, linux::update_resctrl(root, clos, lines));
    undo_.add([root, clos, old = std::move(old_lines)] {
      ignore(linux::update_resctrl(root, clos, old));
    });
    return {};
  }
  // The container has no resctrl group yet.
  OCIRUN_TRY_ASSIGN(record_.resctrl, linux::apply_resctrl(root, rdt, record_.id, record_.init_pid));
  undo_.add([this] { ignore(linux::remove_resctrl(*record_.resctrl)); });
  return {};
}

Result<void> Update::write_state() {
  const StateDirectory& directory = container_.directory();
  if (record_.resctrl && !container_.record().resctrl) {
    OCIRUN_TRY(directory.commit(record_));
    undo_.add([this] {
      bundle::ContainerRecord old = record_;
      old.resctrl.reset();
      ignore(container_.directory().commit(old));
    });
  }
  return directory.write_resources(cgroups::merge(before_, change_));
}

}  // namespace

Result<void> update_container(Container& container, const UpdateRequest& request,
                              const Warn& warn) {
  OCIRUN_TRY(container.lock_and_reload());
  const Status status = container.status();
  if (!can_update(status)) return refuse("container not running");
  OCIRUN_TRY(refuse_foreign(container.directory()));
  const SignalsWait wait;
  return Update(container, request, warn).run();
}

}  // namespace ocirun::runtime
