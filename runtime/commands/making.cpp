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
  OCIRUN_TRY_ASSIGN(document.text, bundle::read_config_file(request.bundle));
  bundle::Parsed parsed = bundle::parse_config(document.text, request.bundle);
  for (const std::string& warning : parsed.warnings) log.warn(warning);
  OCIRUN_TRY_ASSIGN(document.config, std::move(parsed).take());
  OCIRUN_TRY_ASSIGN(document.host, check_host(document.config, request, log));
  return document;
}

Result<void> Making::claim_id() {
  OCIRUN_TRY_ASSIGN(const Store store, Store::open(options.root, MissingRoot::kIsCreated));
  auto claimed = store.create(request.id);
  if (!claimed)
    return std::unexpected(explain_taken_id(store, request.id, std::move(claimed).error()));
  directory = *std::move(claimed);
  // The first undo step is the last to run: the poststop hooks run when all else is undone (H-11).
  undo.add([this] {
    if (!directory->exists()) return;  // `delete` has run the poststop hooks
    if (is_left_to_delete) return;
    ignore(directory->remove());
    if (hooks_have_begun) run_poststop(document.config, record, log);
  });
  OCIRUN_TRY(directory->lock(kLockPatience));
  if (!directory->exists()) return refuse("the container was deleted while it was made");
  return {};
}

Result<void> Making::record_intent() {
  const bool has_hierarchies = !place->layout.hierarchies.empty();
  OCIRUN_TRY_ASSIGN(
      record, new_record(request, document.config, place->cgroup->record(),
                         has_hierarchies ? options.cgroup_manager : CgroupManager::kDisabled));
  if (!record.cgroup.path.empty()) {
    OCIRUN_TRY_ASSIGN(record.cgroup_mark, directory->identity());
  }
  OCIRUN_TRY_ASSIGN(intent, begin_intent(record));
  if (record.cgroup.unit.empty())  // systemd makes the parents of a unit
    intent.record.cgroup.created_parents = cgroups::missing_parents(record.cgroup);
  // The copy of config.json is written before the intent: if `delete --force` finds only the
  // intent, `delete --force` runs the poststop hooks of the copy.
  OCIRUN_TRY(directory->write_config(document.text));
  return directory->write_intent(intent);
}

Result<void> Making::extend_intent() {
  bundle::ContainerRecord& known = intent.record;
  if (known.cgroup.handed_down == record.cgroup.handed_down &&
      known.cgroup_manager == record.cgroup_manager && known.cgroup_mark == record.cgroup_mark &&
      known.resctrl == record.resctrl)
    return {};
  known.cgroup.handed_down = record.cgroup.handed_down;
  known.cgroup_manager = record.cgroup_manager;
  known.cgroup_mark = record.cgroup_mark;
  known.resctrl = record.resctrl;
  return directory->write_intent(intent);
}

// While hooks ran, somebody may have deleted this container and made another container with the
// same id. The cgroup belongs to the other container then.
void Making::destroy_cgroup() {
  if (!directory->exists() || bears_mark_of_another(record)) return;
  const auto destroyed = place->cgroup->destroy();
  if (destroyed) return;
  is_left_to_delete = true;
  log.warn(fmt::format("{}; delete --force {} removes what is left", destroyed.error().message(),
                       record.id));
}

Result<void> Making::make_cgroup() {
  undo.add([this] { destroy_cgroup(); });
  const std::vector<cgroups::DeviceRule> no_rules;
  auto created = place->cgroup->create(
      document.config.resources ? document.config.resources->devices : no_rules);
  if (!created) {
    OCIRUN_TRY(go_without_cgroup(options, document.config.resources, Obstacle::kRefused,
                                 std::move(created).error(), log));
    place->cgroup = cgroups::disabled_cgroup();
    record.cgroup_manager = CgroupManager::kDisabled;
  }
  record.cgroup = place->cgroup->record();
  // The mark is written before init is in the cgroup.
  if (record.cgroup.path.empty() || !mark_cgroup(record)) record.cgroup_mark.clear();
  OCIRUN_TRY(extend_intent());
  return {};
}

Result<void> Making::join_resctrl(int init) {
  if (!document.config.intel_rdt) return {};
  OCIRUN_TRY_ASSIGN(
      record.resctrl,
      linux::apply_resctrl(*document.host.resctrl, *document.config.intel_rdt, record.id, init));
  undo.add([this] { ignore(linux::remove_resctrl(*record.resctrl)); });
  return extend_intent();
}

void Making::take_net_devices_back() {
  if (!directory->exists()) return;  // `delete` has moved the devices back
  const auto returned = return_net_devices(*directory, network_namespace, log);
  if (returned) return;
  is_left_to_delete = true;
  log.warn(returned.error().message());
}

// A failure is only a warning: the container does not need the journal of the devices, and `delete`
// removes the rest of the journal.
void Making::keep_net_devices() {
  if (document.config.net_devices.empty()) return;
  if (const auto kept = forget_net_devices(*directory); !kept) log.warn(kept.error().message());
}

}  // namespace ocirun::runtime
