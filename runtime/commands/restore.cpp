#include "runtime/commands/restore.hpp"

#include <unistd.h>

#include <cerrno>

#include "linux/checkpoint/restored_processes.hpp"
#include "linux/seccomp/filter.hpp"
#include "runtime/checkpoint/conversation.hpp"
#include "runtime/checkpoint/criu_log.hpp"
#include "runtime/checkpoint/options.hpp"
#include "runtime/checkpoint/outside.hpp"
#include "runtime/checkpoint/prepared_sources.hpp"
#include "runtime/checkpoint/read_only_host.hpp"
#include "runtime/commands/checkpoint.hpp"
#include "runtime/commands/destroy.hpp"
#include "runtime/commands/remove.hpp"
#include "runtime/commands/restoration.hpp"
#include "runtime/commands/start.hpp"
#include "runtime/compare/fit.hpp"
#include "runtime/images/check.hpp"
#include "runtime/init/process.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {
namespace {

constexpr char kRestoreLog[] = "restore.log";

}  // namespace

Result<CreatedContainer> Restoration::run() {
  // Before anything is removed or made: the paths may be wrong.
  TRY(open_directories());
  TRY_ASSIGN(criu_, linux::find_criu(options_.criu));
  TRY(make_way());
  TRY(claim_id());
  TRY_ASSIGN(place_, choose_place(options_, document_.config, request_.id.string(), log_));
  TRY(check_absence(place_->cgroup->record(), restore_.settings.cgroups));
  TRY(record_intent());
  TRY_ASSIGN(pinned_, linux::pin_namespaces(document_.config.namespaces));
  TRY(make_mount_points(document_.config));
  TRY(make_cgroup());
  if (document_.config.resources) TRY(place_->cgroup->apply(*document_.config.resources));
  TRY(keep_filter());
  hierarchies_ = describe_hierarchies(place_->layout, record_.cgroup);
  outside_ = outside_mounts(config(), hierarchies_);
  TRY(choose_walls());
  if (!document_.config.net_devices.empty()) undo_.add([this] { take_net_devices_back(); });
  TRY(restore_processes());
  keep_net_devices();
  undo_.commit();
  if (auto started = run_poststart(*directory_, record_, log_); !started) {
    destroy_after(started.error());
    return std::unexpected(std::move(started).error());
  }
  return CreatedContainer{.directory = std::move(*directory_),
                          .record = std::move(record_),
                          .init = std::move(init_),
                          .terminal = std::move(terminal_),
                          .notify_socket = UniqueFd()};
}

Result<void> Restoration::open_directories() {
  TRY_ASSIGN(images_, open_images(restore_.settings.images, restore_.trust));
  TRY(check_images());
  TRY(check_network_images(images_, config(), restore_.settings, log_));
  TRY_ASSIGN(work_, open_or_make_directory(restore_.settings.work, "--work-path"));
  return {};
}

// Namespaces are compared with --trust-images too: in the host's, criu would change the host.
Result<void> Restoration::check_images() const {
  const auto inventory = read_inventory(images_);
  if (!inventory && restore_.trust == TrustImages::kYes) return {};  // CRIU says what is wrong
  if (!inventory) return std::unexpected(inventory.error());
  Obstacles obstacles;
  compare_namespaces(*inventory, config(), obstacles);
  if (!obstacles.empty()) return refuse("{}", obstacles.front());
  if (restore_.trust == TrustImages::kYes) return {};
  TRY(runtime::check_images({.directory = images_,
                             .inventory = *inventory,
                             .config = config(),
                             .has_cgroups = restore_.settings.cgroups != CgroupMode::kIgnore},
                            obstacles));
  return obstacles.empty() ? Result<void>{} : refuse("{}", obstacles.front());
}

// Images that are not trusted must not lead CRIU to files of the host.
Result<void> Restoration::choose_walls() {
  has_read_only_host_ = restore_.trust == TrustImages::kNo && can_make_host_read_only();
  if (restore_.trust == TrustImages::kNo && !has_read_only_host_)
    log_.warn(
        "this kernel is older than Linux 5.12: criu can write to every file of the host, and "
        "forged images can make it do so: restore only images whose origin is known");
  if (restore_.trust == TrustImages::kNo &&
      !config().namespaces.contains(linux::NamespaceKind::kPid))
    log_.warn(
        "the container has no pid namespace: forged images can lead criu through /proc to files of "
        "the host: restore only images whose origin is known");
  if (!has_read_only_host_ && !needs_prepared_sources(config())) return {};
  TRY_ASSIGN(const auto paths, paths_of_criu(restore_input(), criu_));
  TRY_ASSIGN(prepared_, place_for_sources(paths));
  return {};
}

// `exec` loads the filter of the document.
Result<void> Restoration::keep_filter() {
  if (!config().seccomp) return {};
  std::vector<std::string> warnings;
  TRY_ASSIGN(const auto filter, linux::compile_seccomp(*config().seccomp, warnings));
  for (const std::string& warning : warnings) log_.debug(warning);
  return directory_->write_filter(filter_bytes(filter));
}

Result<void> Restoration::restore_processes() {
  TRY_ASSIGN(linux::CriuLaunch launch, prepare_launch());
  TRY_ASSIGN(std::vector<std::string> words, words_for_restore(restore_input(), kLogName));
  const CriuLog criu_log{work_, restore_.settings.work.string(), kLogName};
  TRY(remove_old(criu_log));
  const linux::CriuProcesses processes(place_->procfs);
  Progress progress(Fd{STDERR_FILENO}, "restore " + request_.id.string(),
                    [this] { return memory_restored(); });
  const auto restored = talk_with_criu(
      launch, std::move(words), log_, [&](auto& news) { return pass(news); }, progress);
  // CRIU has ended, and if it was killed it has left what it restores.
  if (!restored || !is_published_) processes.kill();
  if (!restored && has_refused_) return std::unexpected(restored.error());
  if (!restored) return std::unexpected(explain_by_log(restored.error(), criu_log));
  if (!is_published_)
    return refuse(
        "criu has restored the container without the stage pre-resume, in which its processes are "
        "compared with config.json");
  return {};
}

std::optional<Amount> Restoration::memory_restored() const {
  const auto memory = memory_of(*place_->cgroup);
  if (!memory) return std::nullopt;
  return Amount{.done = *memory, .total = bytes_of_pages(images_)};
}

Result<linux::CriuLaunch> Restoration::prepare_launch() {
  linux::CriuLaunch launch;
  launch.program = criu_;
  for (const linux::PinnedNamespace& pinned : pinned_) launch.passed.push_back(pinned.fd);
  TRY_ASSIGN(join_, place_->cgroup->open_for_join());
  launch.images = images_;
  launch.work = work_;
  launch.before = [this](linux::CriuLaunch& in_child) {
    return prepare_criu(restore_input(), in_child);
  };
  return launch;
}

RestoreInput Restoration::restore_input() {
  return {.config = config(),
          .settings = restore_.settings,
          .procfs = place_->procfs,
          .cgroup = record_.cgroup.path,
          .outside = outside_,
          .prepared = prepared_,
          .has_read_only_host = has_read_only_host_,
          .pinned = pinned_,
          .join = join_,
          .ignores_cgroups = ignores_cgroups(),
          .has_new_keyring = request_.new_keyring,
          .images = images_,
          .work = work_};
}

// A container that was checkpointed is stopped, and its record is still there: the restored one
// takes its place.
Result<void> Restoration::make_way() const {
  const auto stopped = Container::load(options_, request_.id);
  if (!stopped || stopped->status() != Status::kStopped) return {};
  return delete_container(options_, request_.id, Force::kNo, log_);
}

void Restoration::destroy_after(const Error& error) {
  // EBUSY: another command works on the container.
  if (!directory_->exists() || error.number() == EBUSY) return;
  const auto destroyed = destroy_container(*directory_, record_, log_);
  if (!destroyed) log_.warn(destroyed.error().message());
}

Result<CreatedContainer> restore_container(const GlobalOptions& options, const Log& log,
                                           const RestoreRequest& request) {
  TRY(refuse_ordinary_user());
  TRY_ASSIGN(Document document, read_document(request.create, log));
  TRY(check_can_be_checkpointed(document.config));
  return Restoration(options, log, request, std::move(document)).run();
}

}  // namespace ocirun::runtime
