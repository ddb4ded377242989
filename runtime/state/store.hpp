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

namespace ocirun::runtime {

enum class MissingRoot { kIsCreated, kIsAnError, kIsEmpty };

/// kAllUsers: the state root belongs to root, and is sticky and writable by everybody, as /tmp is.
/// Each container's directory belongs to the user who created it. Any user can take any id.
enum class Sharing { kOneUser, kAllUsers };

/// The directory of all containers, as open_state_root() finds it.
struct StateRoot {
  UniqueFd directory;  // empty if the state root does not exist
  Sharing sharing = Sharing::kOneUser;
};

/// Opens the state root. It must belong to the effective user and be writable by nobody else, or be
/// shared by all users. Root may open another user's state root, as Slurm does. With kIsEmpty, a
/// state root that does not exist gives an empty descriptor. Errors name the path and the remedy.
Result<StateRoot> open_state_root(const HostPath& root, MissingRoot missing);

/// The state directory of one container:
/// - intent.json: the plan of `create`. Written before anything outside this directory is made, so
///   that `delete --force` can clean up after a crash at any point.
/// - config.json: the snapshot of the bundle's document. Every later command reads the snapshot
///   (D-9).
/// - state.json: the container's record. The container exists from the moment this file exists.
/// - seccomp.bpf: the compiled filter, which `exec` loads.
/// - resources.json: linux.resources after the last `update`.
/// - mounts.json: the mounts of `mounts add`; hooks.json: the hooks that have run;
///   life.json: the beginning and the end of the program.
/// - start.sock: init listens on this socket until `start`. While the file exists, the status is
///   `created`.
/// - netdevices: the journal of the network devices that `create` moves into the container; netns:
///   see net_pin.hpp. Both are removed when no device has to be moved back any more.
/// - notify.sock: the socket that `run` binds into the container as NOTIFY_SOCKET, for a service
///   manager.
class StateDirectory {
 public:
  StateDirectory(HostPath path, UniqueFd directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}

  /// Takes the container's lock; waits at most `patience`. unlock() and the destructor release the
  /// lock. Errors: EBUSY if another command holds the lock for longer.
  Result<void> lock(std::chrono::milliseconds patience) const;
  void unlock() const;

  Result<void> write_intent(const bundle::IntentRecord& intent) const;
  Result<void> write_config(std::string_view text) const;
  Result<void> commit(const bundle::ContainerRecord& record) const;
  Result<bundle::IntentRecord> read_intent() const;
  Result<std::string> read_config() const;
  /// The parsed snapshot of config.json. `bundle` is the bundle's path from the record; relative
  /// paths in the document start there. Errors: ENOENT; a sentence if the file is damaged.
  Result<bundle::Config> read_snapshot(const std::string& bundle) const;
  Result<void> write_resources(const cgroups::Resources& resources) const;
  /// The resources after the last `update`; nothing if there was none.
  Result<std::optional<cgroups::Resources>> read_resources() const;
  Result<void> write_filter(std::string_view bytes) const;
  Result<std::string> read_filter() const;
  /// Errors: ENOENT while the container is being created; a sentence if the file is damaged.
  Result<bundle::ContainerRecord> read_record() const;

  /// Makes start.sock and listens on it.
  Result<UniqueFd> listen_for_start() const;
  /// Connects to start.sock. Errors: ECONNREFUSED if init has ended; a sentence if init does not
  /// accept the connection within ten seconds.
  Result<UniqueFd> connect_to_start() const;
  /// Makes the datagram socket notify.sock. Its mode lets every process write that can reach the
  /// path. Reading from the returned descriptor never blocks.
  Result<UniqueFd> listen_for_notifications() const;
  /// The absolute path of notify.sock. Errors: the state root was removed.
  Result<std::string> notify_socket() const;
  /// Whether state.json exists.
  bool is_committed() const;
  /// Whether the directory is empty or holds a file that ocirun makes: then the directory is a
  /// container's, perhaps a damaged one.
  bool is_state() const;
  /// Whether start.sock exists.
  bool awaits_start() const;
  /// Removes start.sock.
  void forget_start() const;

  /// Whether the path still leads to this directory.
  bool exists() const;
  /// Errors: the directory holds a file that ocirun does not make. The directory may then be any
  /// directory of the host, and must not be removed.
  Result<void> check_is_state() const;
  /// Removes everything in the directory, also files and directories that ocirun did not make, and
  /// then the directory. No error if something is gone already.
  Result<void> remove() const;
  const HostPath& path() const { return path_; }
  /// The last part of the path: the container's id.
  std::string name() const { return path_.string().substr(path_.string().rfind('/') + 1); }
  /// The state root's path.
  std::string root() const { return path_.string().substr(0, path_.string().rfind('/')); }
  /// Identifies this directory among all that exist: its name, file system, inode, and time of
  /// birth if the file system has one. The mark of the container's cgroup holds this text.
  Result<std::string> identity() const;
  /// The descriptor of this directory, for net_devices.cpp and net_pin.cpp, which make files in it.
  Fd descriptor() const { return directory_; }
  /// The user id of the directory's owner. The first answer is remembered.
  Result<std::uint32_t> owner() const;

 private:
  Result<void> check_id(std::string_view id) const;
  Result<std::string> read_file(const char* name) const;
  bool holds(const char* name) const;
  HostPath path_;
  UniqueFd directory_;
  mutable std::optional<std::uint32_t> owner_;
};

inline constexpr char kDeviceJournal[] = "netdevices";

/// How long a command waits for the lock of a container on which another command works.
inline constexpr std::chrono::milliseconds kLockPatience{10'000};

/// The state root, which has one directory for each container. open_state_root() says who may own
/// it.
class Store {
 public:
  /// Errors: `root` is "/"; the errors of open_state_root().
  static Result<Store> open(const HostPath& root, MissingRoot missing);

  /// Makes the directory of a new container. Errors: "container with given ID already exists", with
  /// the owner's user id if the owner is another user.
  Result<StateDirectory> create(const ContainerId& id) const;
  /// Errors: "container does not exist (in the state root …)"; EPERM if the container belongs to
  /// another user of a shared state root, and the caller is not root.
  Result<StateDirectory> find(const ContainerId& id) const;
  /// All ids, sorted: the directories, of which some may be no container's (see
  /// StateDirectory::is_state()). Of a shared state root, root gets all ids and a user gets their
  /// own.
  Result<std::vector<std::string>> ids() const;

 private:
  Store(HostPath path, StateRoot root)
      : path_(std::move(path)),
        directory_(std::move(root.directory)),
        is_shared_(root.sharing == Sharing::kAllUsers) {}
  bool may_look_at(const char* name) const;

  HostPath path_;
  UniqueFd directory_;  // empty if the state root does not exist
  bool is_shared_;
};

}  // namespace ocirun::runtime
