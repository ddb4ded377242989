#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::pods {

/// SIGTERM, SIGINT, SIGHUP and SIGQUIT, which ask for the end of a pod, and SIGCHLD: blocked, and
/// read from a descriptor. Programs that are executed get them unblocked.
class StopSignals {
 public:
  /// Blocks the signals for the rest of the process's life.
  static Result<StopSignals> block();

  Fd fd() const { return signals_; }
  /// How many requests to stop have come since the last call.
  int count() const;
  /// Errors: a request to stop has come.
  Result<void> check() const;

 private:
  explicit StopSignals(UniqueFd signals) : signals_(std::move(signals)) {}
  UniqueFd signals_;
};

}  // namespace ocirun::pods
