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

/// One creation. The members are what its steps have made so far; `undo_` is the last of them, so
/// that it runs while the others are still there.
class Creation {
 public:
  Creation(const GlobalOptions& options, const Log& log, const CreateRequest& request)
      : options_(options), log_(log), request_(request) {}

  Result<CreatedContainer> run() {
    TRY(read_config());
    TRY(claim_id());  // from here on nobody else uses it
    TRY(offer_notify_socket());
    TRY(choose_cgroup());
    TRY(record_intent());  // before the first side effect, for `delete --force` after a crash
    TRY(prepare_plan());   // all that is opened from outside, namespaces first
    TRY(make_cgroup());
    if (auto born = give_birth(); !born)
      return std::unexpected(
          explain_unmapped_root(name_limit(std::move(born).error(), *cgroup_, 0), config_));
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
  Result<void> read_config();
  Result<void> claim_id();
  Result<void> offer_notify_socket();
  Result<void> choose_cgroup();
  Result<void> record_intent();
  Result<void> extend_intent();
  Result<void> prepare_plan();
  Result<void> make_cgroup();
  Result<void> give_birth();
  Result<void> write_oom_score();
  Result<void> join_resctrl();
  Result<void> publish();
  void take_net_devices_back();
  void keep_net_devices();

  const GlobalOptions& options_;
  const Log& log_;
  const CreateRequest& request_;
  std::string text_;
  bundle::Config config_;
  Preflight host_;
  std::optional<StateDirectory> directory_;
  UniqueFd notify_socket_;
  std::optional<linux::Procfs> procfs_;
  cgroups::Layout layout_;
  std::unique_ptr<cgroups::Cgroup> cgroup_ = cgroups::disabled_cgroup();
  bundle::ContainerRecord record_;
  bundle::IntentRecord intent_;
  UniqueFd network_namespace_;  // of the container, once devices move there
  std::optional<InitPlan> plan_;
  std::optional<InitLink> init_;
  bool is_left_to_delete_ = false;  // what does not die keeps its state
  Rollback undo_;
};

Result<void> Creation::read_config() {
  TRY_ASSIGN(text_, bundle::read_config_file(request_.bundle));
  bundle::Parsed parsed = bundle::parse_config(text_, request_.bundle);
  for (const std::string& warning : parsed.warnings) log_.warn(warning);
  TRY_ASSIGN(config_, std::move(parsed).take());
  TRY_ASSIGN(host_, check_host(config_, request_, log_));
  return {};
}

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
    if (init_ && init_->hooks_have_begun()) run_poststop(config_, record_, log_);
  });
  TRY(directory_->lock(kLockPatience));
  if (!directory_->exists()) return refuse("the container was deleted while it was made");
  return {};
}

Result<void> Creation::offer_notify_socket() {
  if (!request_.notifies || !wants_notify_socket(config_)) return {};
  TRY_ASSIGN(notify_socket_, directory_->listen_for_notifications());
  TRY_ASSIGN(const std::string path, directory_->notify_socket());
  add_notify_socket(config_, path);
  return {};
}

Result<void> Creation::choose_cgroup() {
  TRY_ASSIGN(procfs_, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  auto layout = cgroups::read_layout(*procfs_);
  if (layout) layout_ = std::move(*layout);
  warn_of_manager(options_.cgroup_manager, config_, log_);
  if (options_.cgroup_manager == CgroupManager::kDisabled) return {};
  if (layout) {
    TRY_ASSIGN(cgroup_, plan_cgroup(options_, layout_, config_, request_.id.string()));
  } else {
    TRY(go_without_cgroup(options_, config_.resources, Obstacle::kNoHierarchy,
                          std::move(layout).error(), log_));
  }
  return {};
}

Result<void> Creation::record_intent() {
  const bool has_hierarchies = !layout_.hierarchies.empty();
  TRY_ASSIGN(record_,
             new_record(request_, config_, cgroup_->record(),
                        has_hierarchies ? options_.cgroup_manager : CgroupManager::kDisabled));
  if (!record_.cgroup.path.empty()) {
    TRY_ASSIGN(record_.cgroup_mark, directory_->identity());
  }
  intent_ = begin_intent(record_);
  if (record_.cgroup.unit.empty())  // what is made above is known before it is
    intent_.record.cgroup.created_parents = cgroups::missing_parents(record_.cgroup);
  TRY(directory_->write_config(text_));  // first: the intent may promise poststop hooks
  return directory_->write_intent(intent_);
}

// What has come to be since that `delete --force` could not find.
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
  plan_.emplace(InitPlan{.config = config_,
                         .state = document_of(record_),
                         .pinned = {},
                         .cgroup = {},
                         .cgroup_hierarchies = {},
                         .start_socket = {},
                         .inheritance = request_.inheritance,
                         .pivot = request_.pivot,
                         .new_keyring = request_.new_keyring});
  TRY_ASSIGN(plan_->start_socket, directory_->listen_for_start());
  TRY_ASSIGN(plan_->pinned, linux::pin_namespaces(config_.namespaces));
  TRY(compare_joined_id_map(config_, plan_->pinned));
  warn_of_devices(config_, log_);
  return {};
}

Result<void> Creation::make_cgroup() {
  // While hooks ran somebody may have deleted this container and made another one of that name.
  undo_.add([this] {
    if (!directory_->exists() || bears_mark_of_another(record_)) return;
    const auto destroyed = cgroup_->destroy();
    if (destroyed) return;
    is_left_to_delete_ = true;
    log_.warn(fmt::format("{}; delete --force {} removes what is left", destroyed.error().message(),
                          record_.id));
  });
  const std::vector<cgroups::DeviceRule> no_rules;
  if (is_lenient(options_))
    cgroup_->on_refused_devices([this](const Error& refused) -> Result<void> {
      Error error = refused;
      error.within("device rules are left out: only the host's root may set them");
      const bool asked = config_.resources && !config_.resources->devices.empty();
      asked ? log_.warn(error.message()) : log_.debug(error.message());
      return {};
    });
  cgroup_->on_dropped_limit([this](const std::string& sentence) { log_.warn(sentence); });
  auto created = cgroup_->create(config_.resources ? config_.resources->devices : no_rules);
  if (!created) {
    TRY(go_without_cgroup(options_, config_.resources, Obstacle::kRefused,
                          std::move(created).error(), log_));
    cgroup_ = cgroups::disabled_cgroup();
    record_.cgroup_manager = CgroupManager::kDisabled;
  }
  record_.cgroup = cgroup_->record();
  // Before init is in it.
  if (record_.cgroup.path.empty() || !mark_cgroup(record_)) record_.cgroup_mark.clear();
  TRY(extend_intent());
  TRY_ASSIGN(plan_->cgroup, cgroup_->open_for_join());
  if (const auto given = delegate_cgroup(config_, layout_, plan_->cgroup.unified_directory); !given)
    log_.warn(given.error().message());
  plan_->cgroup_hierarchies = describe_hierarchies(layout_, record_.cgroup);
  return {};
}

Result<void> Creation::give_birth() {
  if (record_.mounts_on_host)
    undo_.add([this] { [[maybe_unused]] const auto ignored = detach_host_rootfs(intent_.record); });
  if (!config_.net_devices.empty()) undo_.add([this] { take_net_devices_back(); });
  init_.emplace(*plan_, BirthContext{.request = request_,
                                     .log = log_,
                                     .directory = *directory_,
                                     .cgroup = *cgroup_,
                                     .procfs = *procfs_,
                                     .intent = intent_,
                                     .console = host_.console,
                                     .network_namespace = network_namespace_,
                                     .undo = undo_});
  TRY(init_->spawn());
  log_.debug(fmt::format("cloned process {}", init_->pid()));
  TRY(write_oom_score());
  TRY(init_->apply_resources());  // from here to Ready both sides work at once
  record_.cgroup = cgroup_->record();
  // Of use to a delete that finds both records damaged: no reason to fail.
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
  if (config_.net_devices.empty()) return;
  if (const auto kept = forget_net_devices(*directory_); !kept) log_.warn(kept.error().message());
}

Result<void> Creation::write_oom_score() {
  if (!config_.process || !config_.process->oom_score_adj) return {};
  const std::string value = fmt::format("{}", *config_.process->oom_score_adj);
  return within(
      procfs_->write(fmt::format("{}/oom_score_adj", init_->pid()), value),
      fmt::format("/process/oomScoreAdj: set {} (lowering it wants CAP_SYS_RESOURCE)", value));
}

// I-9: before the program runs.
Result<void> Creation::join_resctrl() {
  if (!config_.intel_rdt) return {};
  TRY_ASSIGN(record_.resctrl,
             linux::apply_resctrl(*host_.resctrl, *config_.intel_rdt, record_.id, init_->pid()));
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
  return Creation(options, log, request).run();
}

}  // namespace ocirun::runtime
