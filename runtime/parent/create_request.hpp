#pragma once

#include <optional>

#include "linux/base/paths.hpp"
#include "runtime/base/options.hpp"
#include "runtime/parent/announcement.hpp"
#include "runtime/state/container_id.hpp"

namespace ocirun::runtime {

/// Who gets the pty's master: `run` in the foreground keeps it, every other command sends it to a
/// console socket.
enum class TerminalKeeper { kConsoleSocket, kCaller };

/// The arguments of `create` and `run`.
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
  bool notifies = false;     // a service manager has given ocirun a NOTIFY_SOCKET
};

}  // namespace ocirun::runtime
