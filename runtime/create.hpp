#pragma once

#include <optional>
#include <string>

#include "bundle/config.hpp"
#include "bundle/state_document.hpp"
#include "linux/clone.hpp"
#include "linux/error.hpp"
#include "linux/paths.hpp"
#include "linux/unique_fd.hpp"
#include "runtime/announcement.hpp"
#include "runtime/container_id.hpp"
#include "runtime/inheritance.hpp"
#include "runtime/log.hpp"
#include "runtime/options.hpp"
#include "runtime/store.hpp"

namespace ocirun::runtime {

/// Who gets the pty's master: `run` in the foreground keeps it, everybody else hands it to a
/// console socket.
enum class TerminalKeeper { kConsoleSocket, kCaller };

/// What `create` and `run` are asked for.
struct CreateRequest {
  ContainerId id;
  HostPath bundle;  // absolute
  std::optional<HostPath> console_socket;
  Announcement announcement;
  TerminalKeeper terminal_keeper = TerminalKeeper::kConsoleSocket;
  bool pivot = true;
  bool new_keyring = true;
  Inheritance inheritance = {};
  bool is_attended = false;  // by a foreground `run`, which removes the container at its end
  bool notifies = false;     // a service manager waits for what the container tells NOTIFY_SOCKET
};

/// A container whose state is `created`.
struct CreatedContainer {
  StateDirectory directory;  // locked
  bundle::ContainerRecord record;
  linux::Child init;
  UniqueFd terminal;       // the master, for TerminalKeeper::kCaller
  UniqueFd notify_socket;  // where CreateRequest::notifies and the document do not do without
};

/// runtime.md#create: everything of config.json but process.args is applied; OP-2, LC-1 … LC-5. On
/// an error the host is as if it had never been asked (ERR-1), after poststop hooks if hooks had
/// begun (H-11). Errors: frames without the command and the id; EINTR
/// when a signal ended it (Signals::ended_by).
Result<CreatedContainer> create_container(const GlobalOptions& options, const Log& log,
                                          const CreateRequest& request);

}  // namespace ocirun::runtime
