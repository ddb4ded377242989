#pragma once

#include <chrono>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "shim/start/log.hpp"

namespace ocirun::shim {

/// The data that `start` hands over to a new server.
struct Setup {
  UniqueFd socket;                  // listens, and does not block
  std::string socket_path;          // start() removes it after serve()
  std::string container_namespace;  // of containerd
  std::string id;                   // of the container that the server is started for
  std::string events_address;       // the path of containerd's ttrpc socket; "": none
  // A server that nobody is connected to, and that has never had a task, ends after this time.
  std::chrono::milliseconds idle_patience{60'000};
};

/// Works until the last task is gone and Shutdown was asked, or until `idle_patience` has passed: a
/// `start` that was killed has told nobody of the server. The working directory is "/", standard
/// input, output and error are the null device, and SIGPIPE is ignored. Has to close the socket
/// before it returns.
Result<void> serve(Setup setup, const Log& log);
using ServerWork = Result<void> (*)(Setup setup, const Log& log);

}  // namespace ocirun::shim
