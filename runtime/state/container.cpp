#include "runtime/state/container.hpp"

#include <unistd.h>

#include <cerrno>

#include "bundle/config/annotations.hpp"
#include "cgroups/open_cgroup.hpp"
#include "linux/files/owner_name.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::runtime {

bundle::StateDocument document_of(const bundle::ContainerRecord& record) {
  return {.oci_version = record.oci_version,
          .id = record.id,
          .status = Status::kUnknown,
          .pid = 0,
          .bundle = record.bundle,
          .rootfs = record.rootfs,
          .created = record.created,
          .owner = "",
          .annotations = record.annotations,
          .life = {}};
}

Result<std::unique_ptr<cgroups::Cgroup>> cgroup_of(const bundle::ContainerRecord& record) {
  if (is_without_cgroup(record)) return cgroups::disabled_cgroup();
  return cgroups::open_cgroup(record.cgroup);
}

bool is_frozen(const bundle::ContainerRecord& record) {
  if (is_without_cgroup(record)) return false;
  const auto state = cgroups::freezer_state_of(record.cgroup);
  return state && *state == cgroups::FreezerState::kFrozen;
}

bool is_without_cgroup(const bundle::ContainerRecord& record) {
  return record.cgroup_manager == CgroupManager::kDisabled || record.cgroup.path.empty();
}

namespace {

Error damaged(Error cause, std::string_view id) {
  return cause.within(
      fmt::format("its state cannot be used; remove the container with delete --force {}", id));
}

Error unusable(const ContainerId& id, const Error& cause) {
  if (cause.number() == ENOENT)
    return Error(0, fmt::format("container is incomplete (its create has not ended, or was "
                                "killed): wait for it, or remove it "
                                "with delete --force {}",
                                id.string()));
  Error error = cause;
  if (is_transient(cause.number())) return error.within("its state cannot be read now");
  return damaged(std::move(error), id.string());
}

}  // namespace

Result<void> check_foreign_record(const StateDirectory& directory,
                                  bundle::ContainerRecord& record) {
  OCIRUN_TRY_ASSIGN(const std::uint32_t owner, directory.owner());
  if (owner == ::geteuid()) return {};
  // Init has ended, and its pid may already belong to another process.
  if (!linux::is_alive(record.init()))
    record.init_pid = 0;
  else if (!linux::belongs_to(record.init_pid, owner))
    return refuse("its state names process {}, which does not belong to user {}, the owner of {}",
                  record.init_pid, owner, directory.path().string());
  if (is_without_cgroup(record)) return {};
  OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                    linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  OCIRUN_TRY_ASSIGN(const cgroups::Layout layout, cgroups::read_layout(procfs));
  OCIRUN_TRY_ASSIGN(const Uid uid, Uid::make(owner));
  OCIRUN_TRY_ASSIGN(record.cgroup, cgroups::check_record(std::move(record.cgroup), layout, uid));
  if (record.cgroup.path.empty()) record.cgroup_manager = CgroupManager::kDisabled;
  return {};
}

Result<Container> Container::load(const GlobalOptions& options, const ContainerId& id) {
  OCIRUN_TRY_ASSIGN(const Store store, Store::open(options.root, MissingRoot::kIsEmpty));
  return load(store, id);
}

Result<Container> Container::load(const Store& store, const ContainerId& id) {
  OCIRUN_TRY_ASSIGN(StateDirectory directory, store.find(id));
  return load(directory, id);
}

Result<Container> Container::load(StateDirectory& directory, const ContainerId& id) {
  auto record = directory.read_record();
  if (!record) return std::unexpected(unusable(id, record.error()));
  OCIRUN_TRY(check_foreign_record(directory, *record));
  return Container(std::move(directory), std::move(*record));
}

Result<void> Container::lock_and_reload() {
  OCIRUN_TRY(directory_.lock(lock_patience(directory_)));
  auto record = directory_.read_record();
  // While this command waited, another command may have deleted the container, and the owner of the
  // state directory may have replaced the record.
  if (!record) return refuse("container does not exist");
  OCIRUN_TRY(check_foreign_record(directory_, *record));
  record_ = std::move(*record);
  return {};
}

Error Container::lost_snapshot(Error cause) const {
  if (!directory_.is_committed()) return Error(0, "container does not exist");
  return damaged(std::move(cause), record_.id);
}

Status Container::status() const {
  const auto boot = linux::read_boot_id();
  // If /proc cannot be read, init counts as a process that lives and has executed nothing.
  const auto stat = linux::stat_of_living(init()).value_or(linux::ProcessStat());
  if (!stat || (boot && *boot != record_.boot_id)) return Status::kStopped;
  // kPaused before kCreated: a created container can be paused too, and `resume` requires kPaused.
  if (is_frozen(record_)) return Status::kPaused;
  // start.sock alone proves nothing: a `start` that was killed after it had released init leaves
  // the socket behind.
  if (!stat->has_executed && directory_.awaits_start()) return Status::kCreated;
  return Status::kRunning;
}

Result<std::unique_ptr<cgroups::Cgroup>> Container::cgroup() const { return cgroup_of(record_); }

bundle::StateDocument Container::state() const {
  bundle::StateDocument document = document_of(record_);
  document.status = status();
  document.pid = document.status == Status::kStopped ? 0 : record_.init_pid;
  if (bundle::is_true(record_.annotations, bundle::kRecordExit).value_or(false))
    if (auto life = bundle::read_life(directory_.descriptor()); life) document.life = *life;
  return document;
}

Result<void> refuse_foreign(const StateDirectory& directory) {
  OCIRUN_TRY_ASSIGN(const std::uint32_t owner, directory.owner());
  if (owner == ::geteuid()) return {};
  if (!is_host_root())
    return refuse("the container belongs to {}: only that user may do this",
                  linux::owner_name(owner));
  return refuse(
      "the container belongs to user {}: only that user may do this: sudo -u '#{}' ocirun --root "
      "{} COMMAND {}",
      owner, owner, directory.root(), directory.name());
}

bool belongs_to_caller(const StateDirectory& directory) { return directory.owner() == ::geteuid(); }

std::chrono::milliseconds lock_patience(const StateDirectory& directory) {
  return belongs_to_caller(directory) ? kLockPatience : std::chrono::milliseconds{1000};
}

bundle::StateDocument state_of_unfinished(const StateDirectory& directory, const ContainerId& id) {
  bundle::StateDocument document;
  document.id = id.string();
  document.status = Status::kUnknown;
  const auto intent = directory.read_intent();
  if (!intent) return document;
  document = document_of(intent->record);
  document.status = Status::kUnknown;
  const linux::ProcessIdentity creator = intent->runtime();
  const auto record = directory.read_record();
  const bool is_being_created =
      !record && record.error().number() == ENOENT && linux::is_alive(creator);
  if (!is_being_created) return document;
  // For a hook of `create` that calls `state`, the status is the same as in the state document on
  // the stdin of the hook.
  const linux::ProcessIdentity init = intent->record.init();
  const bool hooks_run = init.pid != 0 && linux::is_alive(init);
  document.status = hooks_run ? Status::kCreated : Status::kCreating;
  document.pid = hooks_run ? init.pid : 0;
  return document;
}

Error explain_taken_id(const Store& store, const ContainerId& id, Error error) {
  const auto directory = store.find(id);
  if (!directory || !belongs_to_caller(*directory)) return error;
  const std::string root = directory->root();
  const std::string option = root == default_state_root().string() ? "" : "--root " + root + " ";
  const auto record = directory->read_record();
  if (!record || record->attendant_pid == 0 || linux::is_alive(record->attendant()))
    return Error(error.number(),
                 fmt::format("{}: choose another id (`ocirun run --bundle BUNDLE ID`), or end and "
                             "remove that container: `ocirun {}delete --force {}`",
                             error.message(), option, id.string()));
  return Error(error.number(),
               fmt::format("{}: the `ocirun run` that attended it, process {}, was killed and left "
                           "it, perhaps running: `ocirun {}delete --force {}` ends and removes it "
                           "(as ExecStopPost= in a unit of systemd's)",
                           error.message(), record->attendant_pid, option, id.string()));
}

}  // namespace ocirun::runtime
