#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
#include "cgroups/plan/resources.hpp"
#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "runtime/state/container_id.hpp"
#include "runtime/state/state_root.hpp"

namespace ocirun::runtime {

/// The state directory of one container:
/// - intent.json: before the first side effect, for `delete --force` after a crash at any point
/// - config.json: the snapshot that every later command reads instead of the bundle's (D-9)
/// - state.json: the commit; from here on the container exists
/// - seccomp.bpf: the compiled filter, so that `exec` need not compile it again
/// - resources.json: linux.resources as `update` has left them
/// - start.sock: init listens on it until it is started; its presence is the status `created`
/// - netdevices, netns: where network devices come from and are, until they need not be brought
/// back
/// - notify.sock: what `run` binds into the container as NOTIFY_SOCKET, for a service manager
class StateDirectory {
 public:
  StateDirectory(HostPath path, UniqueFd directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}

  /// Takes the container's lock, waiting at most `patience`. It goes with this object, or with
  /// unlock(). Errors: EBUSY when another command holds it for longer.
  Result<void> lock(std::chrono::milliseconds patience) const;
  void unlock() const;

  Result<void> write_intent(const bundle::IntentRecord& intent) const;
  Result<void> write_config(std::string_view text) const;
  Result<void> commit(const bundle::ContainerRecord& record) const;
  Result<bundle::IntentRecord> read_intent() const;
  Result<std::string> read_config() const;
  /// The snapshot of config.json as values; `bundle` is the record's, for relative paths. Errors:
  /// ENOENT, or a sentence when the file is damaged.
  Result<bundle::Config> read_snapshot(const std::string& bundle) const;
  Result<void> write_resources(const cgroups::Resources& resources) const;
  /// What `update` wrote last; nothing before the first one.
  Result<std::optional<cgroups::Resources>> read_resources() const;
  Result<void> write_filter(std::string_view bytes) const;
  Result<std::string> read_filter() const;
  /// Errors: ENOENT while the container is being created; a sentence when the file is damaged.
  Result<bundle::ContainerRecord> read_record() const;

  /// A listening socket at start.sock.
  Result<UniqueFd> listen_for_start() const;
  /// Errors: ECONNREFUSED, nobody listens any more; init has not accepted for ten seconds.
  Result<UniqueFd> connect_to_start() const;
  /// A datagram socket at notify.sock that never waits; whoever reaches it may write to it.
  Result<UniqueFd> listen_for_notifications() const;
  /// The socket's absolute path. Errors: the state root is gone.
  Result<std::string> notify_socket() const;
  /// Whether state.json is there.
  bool is_committed() const;
  /// Whether it is empty or holds a file of ours: a container's, however damaged.
  bool is_state() const;
  bool awaits_start() const;
  void forget_start() const;

  /// Whether it is still there under its name.
  bool exists() const;
  /// Errors: something in it is nothing that ocirun makes there; it may be any directory of the
  /// host.
  Result<void> check_is_state() const;
  /// Removes the files and the directory. Missing is no error.
  Result<void> remove() const;
  const HostPath& path() const { return path_; }
  /// The last part of the path: the container's id.
  std::string name() const { return path_.string().substr(path_.string().rfind('/') + 1); }
  /// The state root's path.
  std::string root() const { return path_.string().substr(0, path_.string().rfind('/')); }
  /// Name, filesystem, inode and (where it has one) time of birth: what its container's cgroup is
  /// marked with. No two that are there have the same.
  Result<std::string> identity() const;
  /// For files that are made here elsewhere: net_devices.cpp.
  Fd descriptor() const { return directory_; }
  /// The user that it belongs to.
  Result<std::uint32_t> owner() const;

 private:
  Result<void> check_id(std::string_view id) const;
  bool holds(const char* name) const;
  HostPath path_;
  UniqueFd directory_;
};

inline constexpr char kDeviceJournal[] = "netdevices";

/// How long a command waits for another one that works on the same container.
inline constexpr std::chrono::milliseconds kLockPatience{10'000};

/// The state root: one directory a container. It belongs to the effective user; root may work on
/// another owner's root (Slurm does).
class Store {
 public:
  /// Errors: "/" itself, a root of somebody else, or one that others may write and that is not
  /// shared (see state_root.hpp).
  static Result<Store> open(const HostPath& root, MissingRoot missing);

  /// Errors: "container with given ID already exists", with its owner where that is another user.
  Result<StateDirectory> create(const ContainerId& id) const;
  /// Errors: "container does not exist"; EPERM: in a shared root, one of another user's (root may
  /// look at everybody's).
  Result<StateDirectory> find(const ContainerId& id) const;
  /// All ids, sorted; of a shared root the caller's own (root: everybody's).
  Result<std::vector<std::string>> ids() const;

 private:
  Store(HostPath path, StateRoot root)
      : path_(std::move(path)),
        directory_(std::move(root.directory)),
        is_shared_(root.sharing == Sharing::kAllUsers) {}
  bool may_look_at(const char* name) const;

  HostPath path_;
  UniqueFd directory_;  // empty: the root does not exist
  bool is_shared_;
};

}  // namespace ocirun::runtime
