#pragma once

#include <chrono>
#include <optional>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::pods {

/// Asks a supervisor to stop its pod, as SIGTERM does, with this time between the containers' stop
/// signals and SIGKILL. Errors: ESRCH, EPERM.
Result<void> ask_to_stop(const linux::ProcessIdentity& supervisor, std::chrono::seconds grace);

/// SIGTERM, SIGINT, SIGHUP and SIGQUIT, which ask for the end of a pod, and SIGCHLD: blocked, and
/// read from a descriptor. Programs that are executed get them unblocked.
class StopSignals {
 public:
  /// Blocks the signals for the rest of the process's life.
  static Result<StopSignals> block();

  Fd fd() const { return signals_; }
  /// Requests to stop.
  struct Requests {
    int count = 0;
    std::optional<std::chrono::seconds> grace;  // what the last one with a grace period asks for
  };
  /// The requests that have come since the last call.
  Requests take() const;
  /// Errors: a request to stop has come.
  Result<void> check() const;

 private:
  explicit StopSignals(UniqueFd signals) : signals_(std::move(signals)) {}
  UniqueFd signals_;
};

}  // namespace ocirun::pods
