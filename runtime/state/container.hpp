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
#include "runtime/state/status.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

/// A container that exists, as later commands meet it: its record, and what /proc and its cgroup
/// say now.
class Container {
 public:
  /// Errors: "container does not exist"; a container that is still being created, or whose state
  /// file is damaged: only `delete --force` works on those.
  static Result<Container> load(const GlobalOptions& options, const ContainerId& id);
  static Result<Container> load(const Store& store, const ContainerId& id);

  const bundle::ContainerRecord& record() const { return record_; }
  const StateDirectory& directory() const { return directory_; }
  /// The snapshots that `create` has kept for later commands: config.json and the compiled seccomp
  /// filter. Errors: "container does not exist" when the container was deleted after load().
  Result<bundle::Config> config() const { return kept(directory_.read_snapshot(record_.bundle)); }
  Result<std::string> filter_bytes() const { return kept(directory_.read_filter()); }
  linux::ProcessIdentity init() const { return record_.init(); }

  /// A zombie init counts as stopped; so does a process with that number but another start time or
  /// boot.
  Status status() const;
  Result<std::unique_ptr<cgroups::Cgroup>> cgroup() const;
  /// runtime.md#state as of now.
  bundle::StateDocument state() const;

  /// After lock(): the record may have changed while another command held it.
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

/// Root works on a user's state root (Slurm does), but what the user wrote there must not make root
/// touch what is not the user's: `record` forgets the cgroups that are not there. Errors: it names
/// a process or a cgroup of somebody else.
Result<void> keep_what_owner_owns(const StateDirectory& directory, bundle::ContainerRecord& record);

/// Errors: the state directory belongs to another user, whose hooks, namespaces and root must not
/// be entered as root.
Result<void> refuse_foreign(const StateDirectory& directory);
/// Whether it is the caller's; not where its owner cannot be told.
bool is_callers(const StateDirectory& directory);
/// How long to wait for its lock: kLockPatience, and a second for another user's, who may hold it
/// for ever.
std::chrono::milliseconds lock_patience(const StateDirectory& directory);

/// The state of a container that is being created, or whose state file is damaged; for `state` and
/// `list`.
bundle::StateDocument state_of_unfinished(const StateDirectory& directory, const ContainerId& id);

}  // namespace ocirun::runtime
