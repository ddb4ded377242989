#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/clone.hpp"
#include "runtime/base/log.hpp"
#include "runtime/foreground/supervisor.hpp"
#include "runtime/protocol/init_plan.hpp"

namespace ocirun::runtime {

/// Whether the container is to have a socket of ours: it has a process, and the document does not
/// set NOTIFY_SOCKET itself.
bool wants_notify_socket(const bundle::Config& config);
/// Binds `socket` (absolute, on the host) read-only into the container and names it in the
/// process's environment.
void add_notify_socket(bundle::Config& config, const std::string& socket);

/// What of a container's datagram goes on: lines READY=1, RELOADING=1, STOPPING=1, WATCHDOG=1,
/// MONOTONIC_USEC=digits and STATUS= followed by at most 512 bytes without control characters, each
/// variable once. All else, MAINPID and FDSTORE above all, is not the container's to say.
std::string forwardable_lines(std::string_view datagram);

/// The container's side of NOTIFY_SOCKET: who writes to it is not trusted.
class Notifications {
 public:
  /// `main_pid`: whom the service manager is told to watch once the container is ready.
  Notifications(Fd socket, const Supervisor& supervisor, int main_pid, const Log& log)
      : socket_(socket), supervisor_(supervisor), main_pid_(main_pid), log_(log) {}

  Fd descriptor() const { return socket_; }
  /// Forwards what has come: a few datagrams at most, 32 a second once the container is ready.
  /// Never waits for the container.
  void carry();
  /// Whether READY=1 was among it.
  bool ready() const { return ready_; }

 private:
  bool is_too_much();

  Fd socket_;
  const Supervisor& supervisor_;
  int main_pid_;
  const Log& log_;
  bool ready_ = false;
  std::chrono::steady_clock::time_point second_begins_;
  int in_this_second_ = 0;
};

/// For a container that goes on without us: returns when it is ready and the service manager knows.
/// Errors: it ended before; EINTR, "stopped by signal 15". Wants Signals::capture().
Result<void> await_ready(const linux::Child& child, Notifications& notifications,
                         const Supervisor& supervisor, const Log& log);

}  // namespace ocirun::runtime
