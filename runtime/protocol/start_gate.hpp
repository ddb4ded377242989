#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

// The channel between a created container's init and `ocirun start`: a SOCK_SEQPACKET connection.
//   init ── 'H'text ──► start    every 10 s of a startContainer hook without timeout
//   init ── 'R'times ──► start   the startContainer hooks that have run: hook_times.hpp
//   init ── 'E' ──► start        execve is next, or the loading of the filter and then execve
//   init ── 'F'error ──► start   the container was not started; init exits
//   end of stream after 'E'      execve has closed the socket, or init was killed
inline constexpr char kGateHookLasts = 'H';
inline constexpr char kGateHooksRan = 'R';
inline constexpr char kGateExec = 'E';
inline constexpr char kGateFailed = 'F';

inline constexpr char kEndedBeforeExec[] =
    "the container's init was killed before it could execute the program (/linux/seccomp must "
    "allow execve and the calls before it; RLIMIT_NOFILE must allow four descriptors)";

/// Init's side.
class StartGate {
 public:
  /// With SendBy::kWrite, sending to a `start` that has died raises SIGPIPE, which the caller
  /// handles.
  explicit StartGate(UniqueFd listener, linux::SendBy send_by = linux::SendBy::kSocketCall)
      : listener_(std::move(listener)), send_by_(send_by) {}
  /// Waits without limit until `start` connects, then closes the listening socket.
  Result<void> wait();
  // The four messages. A `start` that has died meanwhile is no error.
  void report_lasting_hook(std::string_view text) const;
  void report_hooks(std::string_view times) const;
  void announce_exec() const;
  void refuse(const Error& error) const;

 private:
  void send(std::string_view record, int flags) const;

  UniqueFd listener_;
  UniqueFd connection_;
  linux::SendBy send_by_;
};

/// The callbacks of `start` while it waits for init.
struct GateListener {
  std::function<void(std::string_view)> warn;            // gets the text of each 'H'
  std::function<void(std::string_view)> hooks_ran = {};  // gets the text of the first 'R'
  std::function<void()> executes = {};                   // called at each 'E'
  /// Called like OnSilence. `executing`: init has sent 'E'.
  std::function<Result<void>(std::chrono::seconds so_far, bool executing)> on_silence;
};

/// The side of `start`: returns when init has executed the program. Errors: the error that init
/// sent; init ended before execve; a signal asks this command to end; the error of on_silence.
Result<void> await_exec(Fd connection, const GateListener& listener);

}  // namespace ocirun::runtime
