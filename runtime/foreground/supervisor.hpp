#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Socket activation (sd_listen_fds(3)): the number of sockets that this process got as descriptors
/// 3 and up; 0 if LISTEN_PID names another process. Errors: LISTEN_FDS is not a number from 0 to
/// 1000.
Result<int> count_listening_sockets();

/// The service manager that runs this process as a service of Type=notify. It listens on the socket
/// that $NOTIFY_SOCKET names (sd_notify(3)).
class Supervisor {
 public:
  /// Nothing if the variable is unset or empty. Errors: the variable is neither an absolute path
  /// nor "@name"; nobody listens on the socket.
  static Result<std::optional<Supervisor>> connect();

  /// Sends `lines`, separated by newlines, without a last newline. Waits at most one second for a
  /// service manager that does not read.
  Result<void> tell(std::string_view lines) const;
  /// Returns when the service manager has read all datagrams of this process. The process must not
  /// end earlier: the service manager finds the sender's unit by its pid. Error: five seconds have
  /// passed.
  Result<void> wait_until_read() const;

 private:
  explicit Supervisor(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
};

}  // namespace ocirun::runtime
