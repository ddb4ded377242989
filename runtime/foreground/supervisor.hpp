#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Socket activation (sd_listen_fds(3)): how many sockets from descriptor 3 on are handed to this
/// very process, which LISTEN_PID names; else 0. Errors: LISTEN_FDS is not a number up to 1000.
Result<int> count_listening_sockets();

/// The service manager that runs us as a service of Type=notify: what $NOTIFY_SOCKET names
/// (sd_notify(3)).
class Supervisor {
 public:
  /// Nothing when the variable is unset or empty. Errors: neither an absolute path nor "@name", or
  /// nobody listens there.
  static Result<std::optional<Supervisor>> connect();

  /// Lines without the last newline. Waits at most a second for a manager that does not read.
  Result<void> tell(std::string_view lines) const;
  /// Returns when the manager has read all that it was told, or after five seconds: it looks a
  /// sender's unit up by the pid, which must be there for so long.
  Result<void> wait_until_read() const;

 private:
  explicit Supervisor(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
};

}  // namespace ocirun::runtime
