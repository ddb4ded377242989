#pragma once

#include <functional>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/metadata/answers.hpp"

namespace ocirun::pods {

/// Limits for the clients of the service.
struct ServerLimits {
  static constexpr unsigned kConnections = 64;     // at a time
  static constexpr std::size_t kHeadBytes = 8192;  // the head of a request and of its answer
  static constexpr std::uint64_t kFormBytes = 1ULL << 20;  // the body of a request
  static constexpr int kSecondsOfRequest = 10;             // from its first byte to its answer
};

/// Answers HTTP requests on the listening socket `socket`, until the process is killed. Calls
/// `ready` before it waits for the first request. When all connections are in use, closes the
/// oldest ones in favour of new ones. Errors: the HTTP server cannot be started, or fails; that of
/// `ready`.
Result<void> serve(Fd socket, const Answers& answers, const std::function<Result<void>()>& ready);

/// Loads a filter that allows only the system calls for answering connections; any other call, such
/// as connect(2), ends ocirun-metadata. The process must have no_new_privs.
Result<void> allow_service_calls();

}  // namespace ocirun::pods
