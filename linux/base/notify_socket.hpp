#pragma once

#include <optional>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// The socket of a service manager that runs this process as a service of Type=notify
/// (sd_notify(3)).
class NotifySocket {
 public:
  /// `name`: the value of $NOTIFY_SOCKET. Nothing if it is empty. Errors: it is neither an absolute
  /// path nor "@name"; nobody listens on the socket.
  static Result<std::optional<NotifySocket>> connect(std::string_view name);

  /// Sends `lines`, separated by newlines, without a last newline. Waits at most one second for a
  /// service manager that does not read. Never raises SIGPIPE.
  Result<void> tell(std::string_view lines) const;

  Fd fd() const { return socket_; }

 private:
  explicit NotifySocket(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
};

}  // namespace ocirun::linux
