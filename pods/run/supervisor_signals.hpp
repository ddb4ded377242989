#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::pods {

/// Sends SIGTERM to a supervisor, with the grace period: the time between the stop signals of the
/// containers and SIGKILL. Errors: ESRCH, EPERM.
Result<void> ask_to_stop(const linux::ProcessIdentity& supervisor, std::chrono::seconds grace);

/// A request to restart a container: its index in the record of the pod, and how often it was
/// restarted before (only the last 15 bits). A repeated request does nothing after the restart.
struct RestartRequest {
  std::uint16_t container = 0, restarts = 0;
  static RestartRequest of(std::size_t container, std::uint32_t restarts) {
    return {static_cast<std::uint16_t>(container), static_cast<std::uint16_t>(restarts & 0x7FFF)};
  }
  friend bool operator==(const RestartRequest&, const RestartRequest&) = default;
};
/// Sends the request to a supervisor. Errors: ESRCH, EPERM.
Result<void> ask_to_restart(const linux::ProcessIdentity& supervisor, RestartRequest request);

/// The signals of a supervisor: SIGTERM, SIGINT, SIGHUP and SIGQUIT, which ask it to stop the pod,
/// SIGURG, which asks it to restart a container (a supervisor of an older version ignores it), and
/// SIGCHLD. They are blocked, and read from a descriptor. Programs that the supervisor executes
/// get them unblocked.
class SupervisorSignals {
 public:
  /// Blocks the signals until the process ends.
  static Result<SupervisorSignals> block();

  Fd fd() const { return signals_; }
  struct Requests {
    int count = 0;                              // of requests to stop
    std::optional<std::chrono::seconds> grace;  // of the last request that has a grace period
    std::vector<RestartRequest> restarts;
  };
  /// The requests that have come since the last call.
  Requests take() const;
  /// Fails with ECANCELED if a request to stop has come.
  Result<void> check() const;

 private:
  explicit SupervisorSignals(UniqueFd signals) : signals_(std::move(signals)) {}
  UniqueFd signals_;
};

}  // namespace ocirun::pods
