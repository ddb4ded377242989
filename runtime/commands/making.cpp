#include "runtime/commands/making.hpp"

#include "linux/resctrl/group.hpp"
#include "runtime/commands/destroy.hpp"
#include "runtime/parent/create_request.hpp"
#include "runtime/parent/net_devices.hpp"
#include "runtime/state/cgroup_mark.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

Result<Document> read_document(const CreateRequest& request, const Log& log) {
  Document document;
  TRY_ASSIGN(document.text, bundle::read_config_file(request.bundle));
  bundle::Parsed parsed = bundle::parse_config(document.text, request.bundle);
  for (const std::string& warning : parsed.warnings) log.warn(warning);
  TRY_ASSIGN(document.config, std::move(parsed).take());
  TRY_ASSIGN(document.host, check_host(document.config, request, log));
  return document;
}

Result<void> Making::claim_id() {
  TRY_ASSIGN(const Store store, Store::open(options_.root, MissingRoot::kIsCreated));
  auto claimed = store.create(request_.id);
  if (!claimed)
    return std::unexpected(explain_taken_id(store, request_.id, std::move(claimed).error()));
  directory_ = *std::move(claimed);
  // Registered first and so the last to run: after all else is undone (H-11).
  undo_.add([this] {
    if (!directory_->exists()) return;  // who has deleted it has run the poststop hooks too
    if (is_left_to_delete_) return;
    [[maybe_unused]] const auto ignored = directory_->remove();
    if (hooks_have_begun_) run_poststop(document_.config, record_, log_);
  });
  TRY(directory_->lock(kLockPatience));
  if (!directory_->exists()) return refuse("the container was deleted while it was made");
  return {};
}

Result<void> Making::record_intent() {
  const bool has_hierarchies = !place_->layout.hierarchies.empty();
  TRY_ASSIGN(record_,
             new_record(request_, document_.config, place_->cgroup->record(),
                        has_hierarchies ? options_.cgroup_manager : CgroupManager::kDisabled));
  if (!record_.cgroup.path.empty()) {
    TRY_ASSIGN(record_.cgroup_mark, directory_->identity());
  }
  TRY_ASSIGN(intent_, begin_intent(record_));
  if (record_.cgroup.unit.empty())  // systemd makes the parents of its units itself
    intent_.record.cgroup.created_parents = cgroups::missing_parents(record_.cgroup);
  TRY(directory_->write_config(document_.text));  // first: it has the intent's poststop hooks
  return directory_->write_intent(intent_);
}

Result<void> Making::extend_intent() {
  bundle::ContainerRecord& known = intent_.record;
  if (known.cgroup.handed_down == record_.cgroup.handed_down &&
      known.cgroup_manager == record_.cgroup_manager && known.cgroup_mark == record_.cgroup_mark &&
      known.resctrl == record_.resctrl)
    return {};
  known.cgroup.handed_down = record_.cgroup.handed_down;
  known.cgroup_manager = record_.cgroup_manager;
  known.cgroup_mark = record_.cgroup_mark;
  known.resctrl = record_.resctrl;
  return directory_->write_intent(intent_);
}

// While hooks ran somebody may have deleted this container and made another one of that name.
void Making::destroy_cgroup() {
  if (!directory_->exists() || bears_mark_of_another(record_)) return;
  const auto destroyed = place_->cgroup->destroy();
  if (destroyed) return;
  is_left_to_delete_ = true;
  log_.warn(fmt::format("{}; delete --force {} removes what is left", destroyed.error().message(),
                        record_.id));
}

Result<void> Making::make_cgroup() {
  undo_.add([this] { destroy_cgroup(); });
  const std::vector<cgroups::DeviceRule> no_rules;
  auto created = place_->cgroup->create(
      document_.config.resources ? document_.config.resources->devices : no_rules);
  if (!created) {
    TRY(go_without_cgroup(options_, document_.config.resources, Obstacle::kRefused,
                          std::move(created).error(), log_));
    place_->cgroup = cgroups::disabled_cgroup();
    record_.cgroup_manager = CgroupManager::kDisabled;
  }
  record_.cgroup = place_->cgroup->record();
  // Before init is in it.
  if (record_.cgroup.path.empty() || !mark_cgroup(record_)) record_.cgroup_mark.clear();
  TRY(extend_intent());
  return {};
}

Result<void> Making::join_resctrl(int init) {
  if (!document_.config.intel_rdt) return {};
  TRY_ASSIGN(record_.resctrl, linux::apply_resctrl(*document_.host.resctrl,
                                                   *document_.config.intel_rdt, record_.id, init));
  undo_.add(
      [this] { [[maybe_unused]] const auto ignored = linux::remove_resctrl(*record_.resctrl); });
  return extend_intent();
}

void Making::take_net_devices_back() {
  if (!directory_->exists()) return;  // who has deleted it has brought them back
  const auto returned = return_net_devices(*directory_, network_namespace_, log_);
  if (returned) return;
  is_left_to_delete_ = true;
  log_.warn(returned.error().message());
}

// The rest of their journal is for `delete`; the container does not need it.
void Making::keep_net_devices() {
  if (document_.config.net_devices.empty()) return;
  if (const auto kept = forget_net_devices(*directory_); !kept) log_.warn(kept.error().message());
}

}  // namespace ocirun::runtime
