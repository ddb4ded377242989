#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/notify_socket.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/clone.hpp"
#include "runtime/base/log.hpp"
#include "runtime/protocol/plans.hpp"

namespace ocirun::runtime {

/// Socket activation (sd_listen_fds(3)): the number of sockets that this process got as descriptors
/// 3 and up; 0 unless LISTEN_PID names this process. Errors: LISTEN_FDS is not a number from 0 to
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
  Result<void> tell(std::string_view lines) const { return socket_.tell(lines); }
  /// Returns when the service manager has read all datagrams of this process. The process must not
  /// end earlier: the service manager finds the sender's unit by its pid. Error: five seconds have
  /// passed.
  Result<void> wait_until_read() const;

 private:
  explicit Supervisor(linux::NotifySocket socket) : socket_(std::move(socket)) {}
  linux::NotifySocket socket_;
};

/// Whether ocirun offers the container a NOTIFY_SOCKET: the document has a process whose
/// environment does not set NOTIFY_SOCKET.
bool wants_notify_socket(const bundle::Config& config);
/// Adds a read-only bind of `socket` (an absolute path on the host) to the document's mounts, and
/// its NOTIFY_SOCKET to the process's environment.
void add_notify_socket(bundle::Config& config, const std::string& socket);

/// The lines of a container's datagram that the service manager may receive: READY=1, RELOADING=1,
/// STOPPING=1, WATCHDOG=1, MONOTONIC_USEC=digits and STATUS= followed by at most 512 bytes without
/// control characters, each variable once. Every other variable is dropped, above all MAINPID and
/// FDSTORE.
std::string forwardable_lines(std::string_view datagram);

/// Forwards the datagrams of a container's NOTIFY_SOCKET to the service manager. The senders are
/// not trusted.
class Notifications {
 public:
  /// `main_pid`: the process that the service manager is told to watch (MAINPID) once the container
  /// is ready.
  Notifications(Fd socket, const Supervisor& supervisor, int main_pid, const Log& log)
      : socket_(socket), supervisor_(supervisor), main_pid_(main_pid), log_(log) {}

  Fd descriptor() const { return socket_; }
  /// Forwards the datagrams that have come, at most 16 for each call. Drops those beyond 32 a
  /// second, but never the first READY=1. Each send to the service manager waits at most a second.
  /// After a send that fails, carry() warns and returns, and that datagram is lost.
  void carry();
  /// Whether a datagram with READY=1 has come.
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

/// For `run --detach`: returns when the container has sent READY=1 and the service manager has read
/// it; a service manager that does not read it in time is a warning. Errors: the container ended
/// before; EINTR, "stopped by signal 15". Signals::capture() must have been called.
Result<void> await_ready(const linux::Child& child, Notifications& notifications,
                         const Supervisor& supervisor, const Log& log);

}  // namespace ocirun::runtime
