#pragma once

#include <optional>

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
#include "linux/base/paths.hpp"
#include "linux/process/clone.hpp"
#include "runtime/base/options.hpp"
#include "runtime/base/rollback.hpp"
#include "runtime/state/container_id.hpp"

namespace ocirun::runtime {

class SeccompLearner;

/// The ways in which the caller of ocirun asks to be told of the new process: --pid-file,
/// --pidfd-socket.
struct Announcement {
  std::optional<HostPath> pid_file;      // gets the pid in decimal; replaced atomically, mode 0644
  std::optional<HostPath> pidfd_socket;  // a listening stream socket, which gets a pidfd

  /// Writes the pid file and sends the pidfd. Adds the removal of the pid file to `undo`. Errors
  /// name the option.
  Result<void> tell(const linux::Child& process, Rollback& undo) const;
  void take_back() const;
};

/// The receiver of the pty's master: `run` in the foreground keeps it, every other command sends it
/// to a console socket.
enum class TerminalKeeper { kConsoleSocket, kCaller };

/// The arguments of `create` and `run`.
struct CreateRequest {
  ContainerId id;
  HostPath bundle;  // absolute
  std::optional<HostPath> console_socket;
  Announcement announcement;
  std::optional<HostPath> namespace_pins = {};  // --pin-namespaces
  TerminalKeeper terminal_keeper = TerminalKeeper::kConsoleSocket;
  SeccompLearner* learner = nullptr;  // of --seccomp-learn
  bool pivot = true;
  bool new_keyring = true;
  Inheritance inheritance = {};
  bool is_attended = false;  // by a foreground `run`, which removes the container at its end
  bool notifies = false;     // a service manager has given ocirun a NOTIFY_SOCKET
};

/// The record of a container that is about to be made, with all that is known before any part of
/// the container exists. A foreground `run` is recorded as its attendant. Error: a path is not
/// UTF-8.
Result<bundle::ContainerRecord> new_record(const CreateRequest& request,
                                           const bundle::Config& config,
                                           const cgroups::Record& cgroup, CgroupManager manager);

/// The intent of `record`, with the identity of the calling process. From that identity a later
/// command learns whether the `create` is still running.
/// Errors: /proc does not show the calling process.
Result<bundle::IntentRecord> begin_intent(const bundle::ContainerRecord& record);

}  // namespace ocirun::runtime
