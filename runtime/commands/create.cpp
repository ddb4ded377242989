#include "runtime/commands/create.hpp"

#include <unistd.h>

#include "cgroups/open_cgroup.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/commands/destroy.hpp"
#include "runtime/commands/making.hpp"
#include "runtime/foreground/notifications.hpp"
#include "runtime/parent/cgroup_choice.hpp"
#include "runtime/parent/create_request.hpp"
#include "runtime/parent/exhausted_limits.hpp"
#include "runtime/parent/init_cgroup.hpp"
#include "runtime/parent/init_link.hpp"
#include "runtime/parent/net_devices.hpp"
#include "runtime/parent/preflight.hpp"
#include "runtime/state/cgroup_mark.hpp"
#include "runtime/state/container.hpp"
#include "runtime/state/record.hpp"

namespace ocirun::runtime {
namespace {

/// The steps that make something on the host, from the claim of the id to init's detachment.
class Creation : Making {
 public:
  Creation(const GlobalOptions& options, const Log& log, const CreateRequest& request,
           Document document)
      : Making(options, log, request, std::move(document)) {}
  ~Creation() { undo_.run(); }  // the steps use members of this class

  Result<CreatedContainer> run() {
    TRY(claim_id());  // from here on nobody else uses it
    TRY(offer_notify_socket());
    TRY_ASSIGN(place_, choose_place(options_, document_.config, request_.id.string(), log_));
    TRY(record_intent());  // before anything outside the state directory: for `delete --force`
    TRY(prepare_plan());   // makes start.sock, opens the namespaces to join
    TRY(make_cgroup());
    TRY(open_cgroup());
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
  Result<void> offer_notify_socket();
  Result<void> prepare_plan();
  Result<void> open_cgroup();
  Result<void> give_birth();
  Result<void> publish();

  UniqueFd notify_socket_;
  std::optional<InitPlan> plan_;
  std::optional<InitLink> init_;
};

Result<void> Creation::offer_notify_socket() {
  if (!request_.notifies || !wants_notify_socket(document_.config)) return {};
  TRY_ASSIGN(notify_socket_, directory_->listen_for_notifications());
  TRY_ASSIGN(const std::string path, directory_->notify_socket());
  add_notify_socket(document_.config, path);
  return {};
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

// Opens the cgroup for init to join.
Result<void> Creation::open_cgroup() {
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
                                     .hooks_have_begun = hooks_have_begun_,
                                     .undo = undo_});
  TRY(init_->spawn());
  log_.debug(fmt::format("cloned process {}", init_->pid()));
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
  return join_resctrl(init_->pid());
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
