#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

// The channel between a created container's init and `ocirun start`: a SOCK_SEQPACKET connection.
//   init ── 'H'text ──► start   a hook without timeout lasts, every 10 s
//   init ── 'E' ──► start     the next thing is execve
//   init ── 'F'error ──► start   it failed
//   end of stream after 'E'   execve has happened (it closes the socket), or killed init
inline constexpr char kGateHookLasts = 'H';
inline constexpr char kGateExec = 'E';
inline constexpr char kGateFailed = 'F';

inline constexpr char kEndedBeforeExec[] =
    "the container's init was killed before it could execute the program "
    "(does /linux/seccomp allow execve, and what goes before it? does RLIMIT_NOFILE allow four "
    "descriptors?)";

/// Init's side.
class StartGate {
 public:
  explicit StartGate(UniqueFd listener) : listener_(std::move(listener)) {}
  /// Blocks until somebody starts the container; closes the listener.
  Result<void> wait();
  /// A `start` that has died meanwhile holds nobody up.
  void report_lasting_hook(std::string_view text) const;
  void announce_exec() const;
  void refuse(const Error& error) const;

 private:
  UniqueFd listener_;
  UniqueFd connection_;
};

/// What `start` does about what it hears meanwhile.
struct GateListener {
  std::function<void(std::string_view)> warn;  // of a hook that lasts
  /// As OnSilence; whether the next thing was to be execve.
  std::function<Result<void>(std::chrono::seconds so_far, bool executing)> on_silence;
};

/// The other side: what became of init. Errors: init's own; or that it ended before execve; a
/// signal that asks us to end; on_silence's.
Result<void> await_exec(Fd connection, const GateListener& listener);

}  // namespace ocirun::runtime
