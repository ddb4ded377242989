#pragma once

#include <cerrno>
#include <memory>
#include <optional>

#include "bundle/documents/state.hpp"
#include "cgroups/container/cgroup.hpp"
#include "linux/base/error.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/options.hpp"
#include "runtime/state/container_id.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

using bundle::Status;
using bundle::status_name;

// runtime.md#operations: which operations a status allows (OP-3 … OP-5).
constexpr bool can_start(Status status) { return status == Status::kCreated; }
constexpr bool can_kill(Status status) {
  return status == Status::kCreated || status == Status::kRunning || status == Status::kPaused;
}
constexpr bool can_delete(Status status) { return status == Status::kStopped; }
constexpr bool can_exec(Status status) {
  return status == Status::kCreated || status == Status::kRunning;
}
constexpr bool can_pause(Status status) {
  return status == Status::kCreated || status == Status::kRunning;
}
constexpr bool can_update(Status status) { return can_kill(status); }
constexpr bool can_checkpoint(Status status) {
  return status == Status::kRunning || status == Status::kPaused;
}
constexpr bool can_resume(Status status) { return status == Status::kPaused; }

// Facts that every command derives from a container's record.

/// The state document (runtime.md#state) of the record, without a status: hooks get the document on
/// stdin, `state` prints it.
bundle::StateDocument document_of(const bundle::ContainerRecord& record);

/// The cgroup that the record names, of the cgroupfs driver or the systemd driver.
Result<std::unique_ptr<cgroups::Cgroup>> cgroup_of(const bundle::ContainerRecord& record);
/// Whether the container's cgroup is frozen. False also if the state of the freezer cannot be read.
bool is_frozen(const bundle::ContainerRecord& record);
/// Whether the record names no cgroup of the container's own. The reason is
/// --cgroup-manager=disabled, a cgroup that could not be made (go_without_cgroup()), or a record
/// that was lost while no cgroup has the container's mark (record_without_files() in remove.hpp).
bool is_without_cgroup(const bundle::ContainerRecord& record);

/// A container whose state.json was written. Every command but `create` works on this class: the
/// record comes from the state directory, the status from /proc and the cgroup.
class Container {
 public:
  /// Errors: "container does not exist"; the container is still being created; state.json is
  /// damaged. In the last two cases only `delete --force` works.
  static Result<Container> load(const GlobalOptions& options, const ContainerId& id);
  static Result<Container> load(const Store& store, const ContainerId& id);
  /// The container takes `directory`. After an error, the caller still has it.
  static Result<Container> load(StateDirectory& directory, const ContainerId& id);

  const bundle::ContainerRecord& record() const { return record_; }
  const StateDirectory& directory() const { return directory_; }
  /// The files that `create` kept for later commands: the snapshot of config.json, and the compiled
  /// seccomp filter. Errors: "container does not exist" if the container was deleted after load().
  Result<bundle::Config> config() const { return kept(directory_.read_snapshot(record_.bundle)); }
  Result<std::string> filter_bytes() const { return kept(directory_.read_filter()); }
  linux::ProcessIdentity init() const { return record_.init(); }

  /// The status at this moment. `stopped` if init is a zombie, and if another process has got
  /// init's pid: start time and boot id differ then.
  Status status() const;
  Result<std::unique_ptr<cgroups::Cgroup>> cgroup() const;
  /// The state document (runtime.md#state) at this moment.
  bundle::StateDocument state() const;

  /// Takes the container's lock and reads the record again, which another command may have changed
  /// while it held the lock. Errors: those of StateDirectory::lock(); "container does not exist" if
  /// the other command deleted the container.
  Result<void> lock_and_reload();

 private:
  Container(StateDirectory directory, bundle::ContainerRecord record)
      : directory_(std::move(directory)), record_(std::move(record)) {}
  template <typename Snapshot>
  Result<Snapshot> kept(Result<Snapshot> snapshot) const {
    if (snapshot || snapshot.error().number() != ENOENT) return snapshot;
    return std::unexpected(lost_snapshot(std::move(snapshot).error()));
  }
  Error lost_snapshot(Error cause) const;
  StateDirectory directory_;
  bundle::ContainerRecord record_;
};

/// Checks a record that root reads from another user's state root, as Slurm does, because the user
/// could have written anything into it. Removes cgroups that do not exist from `record`. Refuses a
/// record that names a process or a cgroup which does not belong to the owner of the state
/// directory.
Result<void> check_foreign_record(const StateDirectory& directory, bundle::ContainerRecord& record);

/// Refuses a state directory of another user. Root must neither run that user's hooks nor enter the
/// namespaces and the root file system that the user's record names.
Result<void> refuse_foreign(const StateDirectory& directory);
/// Whether the state directory belongs to the effective user. False if its owner cannot be read.
bool belongs_to_caller(const StateDirectory& directory);
/// The time that a command waits for the lock of the state directory: kLockPatience, or one second
/// if the directory belongs to another user, who could hold the lock for ever.
std::chrono::milliseconds lock_patience(const StateDirectory& directory);

/// The state document that `state` and `list` show for a container that is being created, or whose
/// state.json is damaged.
bundle::StateDocument state_of_unfinished(const StateDirectory& directory, const ContainerId& id);

/// Explains an error of Store::create() whose cause is a taken id. If the id belongs to a container
/// of a foreground `run` that was killed, the returned error says so and names the command that
/// removes the container. Every other error is returned as it is. ocirun does not remove such a
/// container by itself, because the container may still do useful work.
Error explain_taken_id(const Store& store, const ContainerId& id, Error error);

}  // namespace ocirun::runtime
