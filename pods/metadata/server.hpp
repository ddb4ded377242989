#pragma once

#include <functional>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/metadata/answers.hpp"

namespace ocirun::pods {

/// How much of the service its clients can use, whatever they send.
struct ServerLimits {
  static constexpr unsigned kConnections = 64;             // at a time
  static constexpr std::size_t kHeadBytes = 8192;          // the head of a request, its answer's
  static constexpr std::uint64_t kFormBytes = 1ULL << 20;  // the body of a request
  static constexpr int kSecondsOfRequest = 10;             // from its first byte to its answer
};

/// Answers HTTP requests on `socket`, which listens, until the process is killed. `ready` is called
/// before the first request is waited for. When all connections are in use, the oldest ones are
/// closed in favour of new ones. Errors: the HTTP server cannot be started, or fails; that of
/// `ready`.
Result<void> serve(Fd socket, const Answers& answers, const std::function<Result<void>()>& ready);

/// Loads a filter that ends ocirun-metadata at any system call but those that answering connections
/// takes: it makes no connection of its own. The process must have no_new_privs.
Result<void> allow_service_calls();

}  // namespace ocirun::pods
