#include "runtime/commands/create.hpp"

#include <unistd.h>

#include "cgroups/open_cgroup.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/pidfd.hpp"
#include "linux/resctrl/group.hpp"
#include "runtime/base/rollback.hpp"
#include "runtime/commands/destroy.hpp"
#include "runtime/foreground/notifications.hpp"
#include "runtime/parent/cgroup_choice.hpp"
#include "runtime/parent/delegation.hpp"
#include "runtime/parent/exhausted_limits.hpp"
#include "runtime/parent/init_link.hpp"
#include "runtime/parent/net_devices.hpp"
#include "runtime/parent/new_record.hpp"
#include "runtime/parent/preflight.hpp"
#include "runtime/parent/unmapped_root.hpp"
#include "runtime/state/attendant.hpp"
#include "runtime/state/cgroup_mark.hpp"
#include "runtime/state/record.hpp"

namespace ocirun::runtime {
namespace {

/// What `create` knows before it makes anything.
struct Document {
  std::string text;  // config.json as it was read; the state directory keeps a copy
  bundle::Config config;
  Preflight host;
};

Result<Document> read_document(const CreateRequest& request, const Log& log) {
  Document document;
  TRY_ASSIGN(document.text, bundle::read_config_file(request.bundle));
  bundle::Parsed parsed = bundle::parse_config(document.text, request.bundle);
  for (const std::string& warning : parsed.warnings) log.warn(warning);
  TRY_ASSIGN(document.config, std::move(parsed).take());
  TRY_ASSIGN(document.host, check_host(document.config, request, log));
  return document;
}

/// The steps that make something on the host, from the claim of the id to init's detachment. The
/// undo of a step needs what later steps have made, so all of it is members. `undo_` is the last
/// member: undo runs before the others are destroyed.
class Creation {
 public:
  Creation(const GlobalOptions& options, const Log& log, const CreateRequest& request,
           Document document)
      : options_(options), log_(log), request_(request), document_(std::move(document)) {}

  Result<CreatedContainer> run() {
    TRY(claim_id());  // from here on nobody else uses it
    TRY(offer_notify_socket());
    TRY_ASSIGN(place_, choose_place(options_, document_.config, request_.id.string(), log_));
    TRY(record_intent());  // before anything outside the state directory: for `delete --force`
    TRY(prepare_plan());   // makes start.sock, opens the namespaces to join
    TRY(make_cgroup());
    if (auto born = give_birth(); !born)
      return std::unexpected(explain_unmapped_root(
          name_limit(std::move(born).error(), *place_->cgroup, 0), document_.config));
    TRY(publish());  // from here on the container exists
    TRY(init_->detach());
    keep_net_devices();  // init lives without us now
    undo_.commit();
    return CreatedContainer{.directory = std::move(*directory_),
                            .record = std::move(record_),
                            .init = init_->take_child(),
                            .terminal = init_->take_terminal(),
                            .notify_socket = std::move(notify_socket_)};
  }

 private:
  Result<void> claim_id();
  Result<void> offer_notify_socket();
  Result<void> record_intent();
  Result<void> extend_intent();
  Result<void> prepare_plan();
  Result<void> make_cgroup();
  void destroy_cgroup();
  Result<void> give_birth();
  Result<void> write_oom_score();
  Result<void> join_resctrl();
  Result<void> publish();
  void take_net_devices_back();
  void keep_net_devices();

  const GlobalOptions& options_;
  const Log& log_;
  const CreateRequest& request_;
  Document document_;
  // What was claimed:
  std::optional<StateDirectory> directory_;
  UniqueFd notify_socket_;
  // What was placed:
  std::optional<Place> place_;
  bundle::ContainerRecord record_;
  bundle::IntentRecord intent_;
  // What was born:
  std::optional<InitPlan> plan_;
  UniqueFd network_namespace_;  // the container's, from the first moved device on
  std::optional<InitLink> init_;
  // What could not be undone, so that the state directory stays for `delete --force`:
  bool is_left_to_delete_ = false;
  Rollback undo_;
};

Result<void> Creation::claim_id() {
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
    if (init_ && init_->hooks_have_begun()) run_poststop(document_.config, record_, log_);
  });
  TRY(directory_->lock(kLockPatience));
  if (!directory_->exists()) return refuse("the container was deleted while it was made");
  return {};
}

Result<void> Creation::offer_notify_socket() {
  if (!request_.notifies || !wants_notify_socket(document_.config)) return {};
  TRY_ASSIGN(notify_socket_, directory_->listen_for_notifications());
  TRY_ASSIGN(const std::string path, directory_->notify_socket());
  add_notify_socket(document_.config, path);
  return {};
}

Result<void> Creation::record_intent() {
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

// Adds to the intent what was made since, if `delete --force` could not find it otherwise.
Result<void> Creation::extend_intent() {
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

Result<void> Creation::prepare_plan() {
  plan_.emplace(InitPlan{.config = document_.config,
                         .state = document_of(record_),
                         .pinned = {},
                         .cgroup = {},
                         .cgroup_hierarchies = {},
                         .start_socket = {},
                         .inheritance = request_.inheritance,
                         .pivot = request_.pivot,
                         .new_keyring = request_.new_keyring});
  TRY_ASSIGN(plan_->start_socket, directory_->listen_for_start());
  TRY_ASSIGN(plan_->pinned, linux::pin_namespaces(document_.config.namespaces));
  TRY(compare_joined_id_map(document_.config, plan_->pinned));
  warn_of_devices(document_.config, log_);
  return {};
}

// While hooks ran somebody may have deleted this container and made another one of that name.
void Creation::destroy_cgroup() {
  if (!directory_->exists() || bears_mark_of_another(record_)) return;
  const auto destroyed = place_->cgroup->destroy();
  if (destroyed) return;
  is_left_to_delete_ = true;
  log_.warn(fmt::format("{}; delete --force {} removes what is left", destroyed.error().message(),
                        record_.id));
}

Result<void> Creation::make_cgroup() {
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
  TRY_ASSIGN(plan_->cgroup, place_->cgroup->open_for_join());
  if (const auto given =
          delegate_cgroup(document_.config, place_->layout, plan_->cgroup.unified_directory);
      !given)
    log_.warn(given.error().message());
  plan_->cgroup_hierarchies = describe_hierarchies(place_->layout, record_.cgroup);
  return {};
}

Result<void> Creation::give_birth() {
  if (record_.mounts_on_host)
    undo_.add([this] { [[maybe_unused]] const auto ignored = detach_host_rootfs(intent_.record); });
  if (!document_.config.net_devices.empty()) undo_.add([this] { take_net_devices_back(); });
  init_.emplace(*plan_, BirthContext{.request = request_,
                                     .log = log_,
                                     .directory = *directory_,
                                     .cgroup = *place_->cgroup,
                                     .procfs = place_->procfs,
                                     .intent = intent_,
                                     .console = document_.host.console,
                                     .network_namespace = network_namespace_,
                                     .undo = undo_});
  TRY(init_->spawn());
  log_.debug(fmt::format("cloned process {}", init_->pid()));
  TRY(write_oom_score());
  TRY(init_->apply_resources());  // from here to Ready both sides work at once
  record_.cgroup = place_->cgroup->record();
  // A `delete` that finds both records damaged reads the mark. Without it `create` goes on.
  if (!record_.cgroup_mark.empty() &&
      record_.cgroup.handed_down != intent_.record.cgroup.handed_down)
    static_cast<void>(mark_cgroup(record_));
  TRY(extend_intent());
  TRY(init_->compile_filter());
  TRY(init_->serve());
  record_.rootfs_mount = intent_.record.rootfs_mount;
  return join_resctrl();
}

void Creation::take_net_devices_back() {
  if (!directory_->exists()) return;  // who has deleted it has brought them back
  const auto returned = return_net_devices(*directory_, network_namespace_, log_);
  if (returned) return;
  is_left_to_delete_ = true;
  log_.warn(returned.error().message());
}

// What is left of their journal is for `delete`; the container does not need it.
void Creation::keep_net_devices() {
  if (document_.config.net_devices.empty()) return;
  if (const auto kept = forget_net_devices(*directory_); !kept) log_.warn(kept.error().message());
}

Result<void> Creation::write_oom_score() {
  if (!document_.config.process || !document_.config.process->oom_score_adj) return {};
  const std::string value = fmt::format("{}", *document_.config.process->oom_score_adj);
  return within(
      place_->procfs.write(fmt::format("{}/oom_score_adj", init_->pid()), value),
      fmt::format("/process/oomScoreAdj: set {} (lowering it wants CAP_SYS_RESOURCE)", value));
}

// I-9: before the program runs.
Result<void> Creation::join_resctrl() {
  if (!document_.config.intel_rdt) return {};
  TRY_ASSIGN(record_.resctrl,
             linux::apply_resctrl(*document_.host.resctrl, *document_.config.intel_rdt, record_.id,
                                  init_->pid()));
  undo_.add(
      [this] { [[maybe_unused]] const auto ignored = linux::remove_resctrl(*record_.resctrl); });
  return extend_intent();
}

Result<void> Creation::publish() {
  record_.init_pid = init_->pid();
  TRY_ASSIGN(const linux::ProcessStat stat, linux::read_process_stat(init_->pid()));
  record_.init_start_time = stat.start_time;
  TRY_ASSIGN(record_.init_image, linux::image_of(::getpid()));  // init is a clone of us
  TRY(directory_->commit(record_));
  return request_.announcement.tell(init_->child(), undo_);
}

}  // namespace

Result<CreatedContainer> create_container(const GlobalOptions& options, const Log& log,
                                          const CreateRequest& request) {
  TRY_ASSIGN(Document document, read_document(request, log));
  return Creation(options, log, request, std::move(document)).run();
}

}  // namespace ocirun::runtime
