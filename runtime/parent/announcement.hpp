#pragma once

#include <optional>

#include "linux/base/paths.hpp"
#include "linux/process/clone.hpp"
#include "runtime/base/rollback.hpp"

namespace ocirun::runtime {

/// Where ocirun's caller wants to learn of the new process: --pid-file, --pidfd-socket.
struct Announcement {
  std::optional<HostPath> pid_file;      // gets the pid in decimal; replaced atomically, mode 0644
  std::optional<HostPath> pidfd_socket;  // a listening stream socket, which gets a pidfd

  /// Writes and sends. Adds the removal of the pid file to `undo`. Errors name the option.
  Result<void> tell(const linux::Child& process, Rollback& undo) const;
  void take_back() const;
};

}  // namespace ocirun::runtime
