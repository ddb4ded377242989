#include "runtime/commands/create.hpp"

#include "cgroups/open_cgroup.hpp"
#include "linux/base/timeline.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/commands/destroy.hpp"
#include "runtime/commands/making.hpp"
#include "runtime/foreground/learner.hpp"
#include "runtime/foreground/notifications.hpp"
#include "runtime/parent/cgroup_choice.hpp"
#include "runtime/parent/create_request.hpp"
#include "runtime/parent/exhausted_limits.hpp"
#include "runtime/parent/exit_watcher.hpp"
#include "runtime/parent/init_cgroup.hpp"
#include "runtime/parent/init_link.hpp"
#include "runtime/parent/net_devices.hpp"
#include "runtime/parent/preflight.hpp"
#include "runtime/parent/user_namespace.hpp"
#include "runtime/state/cgroup_mark.hpp"
#include "runtime/state/container.hpp"
#include "runtime/state/namespace_pins.hpp"

namespace ocirun::runtime {

using linux::timeline::step;

namespace {

/// The steps of `create` that change the host. The first step claims the id, the last step detaches
/// init from ocirun.
class Creation {
 public:
  Creation(const GlobalOptions& options, const Log& log, const CreateRequest& request,
           Document document)
      : made_{.options = options, .log = log, .request = request, .document = std::move(document)} {
  }
  ~Creation() { made_.undo.run(); }  // undo steps use members of this class

  Result<CreatedContainer> run() {
    step("claim the id");
    OCIRUN_TRY(made_.claim_id());  // from here on no other command uses the id
    OCIRUN_TRY(offer_notify_socket());
    step("choose the cgroup");
    OCIRUN_TRY_ASSIGN(made_.place, choose_place(made_.options, made_.document.config,
                                                made_.request.id.string(), made_.log));
    step("record the intent");
    // The intent is written before any step outside the state directory: if `create` is killed,
    // `delete --force` reads the intent.
    OCIRUN_TRY(made_.record_intent());
    OCIRUN_TRY(plan_pins());
    step("plan init");
    OCIRUN_TRY(prepare_plan());  // makes start.sock, opens the namespaces to join
    step("make the cgroup");
    OCIRUN_TRY(made_.make_cgroup());
    OCIRUN_TRY(open_cgroup());
    if (auto born = give_birth(); !born)
      return std::unexpected(explain_unmapped_root(
          name_limit(std::move(born).error(), *made_.place->cgroup, 0), made_.document.config));
    if (pins_) {
      step("pin the namespaces");
      OCIRUN_TRY(pins_->mount(init_->pid(), made_.document.config.namespaces));
    }
    step("record the container");
    OCIRUN_TRY(publish());  // from here on the container exists
    step("let init go");
    OCIRUN_TRY(init_->detach());
    made_.keep_net_devices();  // init runs without ocirun now
    made_.undo.commit();
    return CreatedContainer{.directory = std::move(*made_.directory),
                            .record = std::move(made_.record),
                            .init = init_->take_child(),
                            .terminal = init_->take_terminal(),
                            .notify_socket = std::move(notify_socket_)};
  }

 private:
  Result<void> offer_notify_socket();
  Result<void> plan_pins();
  Result<void> prepare_plan();
  Result<void> open_cgroup();
  Result<void> give_birth();
  Result<void> publish();

  Making made_;
  std::optional<NamespacePins> pins_;
  UniqueFd notify_socket_;
  std::optional<InitPlan> plan_;
  std::optional<InitLink> init_;
};

Result<void> Creation::offer_notify_socket() {
  if (!made_.request.notifies || !wants_notify_socket(made_.document.config)) return {};
  OCIRUN_TRY_ASSIGN(notify_socket_, made_.directory->listen_for_notifications());
  OCIRUN_TRY_ASSIGN(const std::string path, made_.directory->notify_socket());
  add_notify_socket(made_.document.config, path);
  return {};
}

/// --pin-namespaces: the intent names the mount before it is made.
Result<void> Creation::plan_pins() {
  if (!made_.request.namespace_pins) return {};
  OCIRUN_TRY_ASSIGN(pins_, NamespacePins::plan(*made_.request.namespace_pins));
  made_.record.namespace_pins = made_.intent.record.namespace_pins = pins_->record();
  made_.undo.add([this] {
    const auto removed = remove_pins(pins_->record());
    if (removed) return;
    made_.is_left_to_delete = true;
    made_.log.warn(removed.error().message());
  });
  return made_.directory->write_intent(made_.intent);
}

Result<void> Creation::prepare_plan() {
  plan_.emplace(InitPlan{.config = made_.document.config,
                         .state = document_of(made_.record),
                         .pinned = {},
                         .cgroup = {},
                         .cgroup_hierarchies = {},
                         .start_socket = {},
                         .inheritance = made_.request.inheritance,
                         .pivot = made_.request.pivot,
                         .new_keyring = made_.request.new_keyring});
  OCIRUN_TRY_ASSIGN(plan_->start_socket, made_.directory->listen_for_start());
  OCIRUN_TRY_ASSIGN(plan_->pinned, linux::pin_namespaces(made_.document.config.namespaces));
  OCIRUN_TRY(compare_joined_id_map(made_.document.config, plan_->pinned));
  warn_of_devices(made_.document.config, made_.log);
  return {};
}

// Opens the cgroup for init to join.
Result<void> Creation::open_cgroup() {
  OCIRUN_TRY_ASSIGN(plan_->cgroup, made_.place->cgroup->open_for_join());
  if (const auto given = delegate_cgroup(made_.document.config, made_.place->layout,
                                         plan_->cgroup.unified_directory);
      !given)
    made_.log.warn(given.error().message());
  plan_->cgroup_hierarchies = describe_hierarchies(made_.place->layout, made_.record.cgroup);
  return {};
}

Result<void> Creation::give_birth() {
  if (made_.record.mounts_on_host)
    made_.undo.add([this] { ignore(detach_host_rootfs(made_.intent.record)); });
  if (!made_.document.config.net_devices.empty())
    made_.undo.add([this] { made_.take_net_devices_back(); });
  init_.emplace(*plan_, BirthContext{.request = made_.request,
                                     .log = made_.log,
                                     .directory = *made_.directory,
                                     .cgroup = *made_.place->cgroup,
                                     .intent = made_.intent,
                                     .console = made_.document.host.console,
                                     .network_namespace = made_.network_namespace,
                                     .hooks_have_begun = made_.hooks_have_begun,
                                     .undo = made_.undo});
  step("make init");
  OCIRUN_TRY(init_->spawn());
  made_.log.debug(fmt::format("cloned process {}", init_->pid()));
  step("set the limits");
  OCIRUN_TRY(init_->apply_resources());  // meanwhile init runs in parallel, until init sends Ready
  made_.record.cgroup = made_.place->cgroup->record();
  // `delete --force` reads the mark if state.json and intent.json are damaged. `create` goes on if
  // the mark cannot be written.
  if (!made_.record.cgroup_mark.empty() &&
      made_.record.cgroup.handed_down != made_.intent.record.cgroup.handed_down)
    ignore(mark_cgroup(made_.record));
  OCIRUN_TRY(made_.extend_intent());
  step("compile the seccomp filter");
  OCIRUN_TRY(init_->compile_filter());
  step("serve init");
  OCIRUN_TRY(init_->serve());
  made_.record.rootfs_mount = made_.intent.record.rootfs_mount;
  return made_.join_resctrl(init_->pid());
}

Result<void> Creation::publish() {
  made_.record.init_pid = init_->pid();
  OCIRUN_TRY_ASSIGN(const linux::ProcessStat stat, linux::read_process_stat(init_->pid()));
  made_.record.init_start_time = stat.start_time;
  OCIRUN_TRY_ASSIGN(made_.record.init_image, linux::own_image());  // init is a clone of ocirun
  OCIRUN_TRY(made_.directory->commit(made_.record));
  if (!made_.request.is_attended)  // a foreground `run` deletes the record itself
    OCIRUN_TRY(spawn_exit_watcher(*made_.directory, made_.record));
  return made_.request.announcement.tell(init_->child(), made_.undo);
}

}  // namespace

Result<CreatedContainer> create_container(const GlobalOptions& options, const Log& log,
                                          const CreateRequest& request) {
  step("read config.json");
  OCIRUN_TRY_ASSIGN(Document document, read_document(request, log));
  if (request.learner != nullptr) OCIRUN_TRY(request.learner->prepare(document.config));
  return Creation(options, log, request, std::move(document)).run();
}

}  // namespace ocirun::runtime
