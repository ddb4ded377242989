#pragma once

#include <chrono>
#include <optional>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::pods {

/// Sends SIGTERM to a supervisor, with the grace period: the time between the stop signals of the
/// containers and SIGKILL. Errors: ESRCH, EPERM.
Result<void> ask_to_stop(const linux::ProcessIdentity& supervisor, std::chrono::seconds grace);

/// The signals of a supervisor: SIGTERM, SIGINT, SIGHUP and SIGQUIT, which ask it to stop the pod,
/// and SIGCHLD. They are blocked, and read from a descriptor. Programs that the supervisor executes
/// get them unblocked.
class StopSignals {
 public:
  /// Blocks the signals until the process ends.
  static Result<StopSignals> block();

  Fd fd() const { return signals_; }
  /// Requests to stop.
  struct Requests {
    int count = 0;
    std::optional<std::chrono::seconds> grace;  // of the last request that has a grace period
  };
  /// The requests that have come since the last call.
  Requests take() const;
  /// Fails if a request to stop has come.
  Result<void> check() const;

 private:
  explicit StopSignals(UniqueFd signals) : signals_(std::move(signals)) {}
  UniqueFd signals_;
};

}  // namespace ocirun::pods
