#pragma once

#include <optional>

#include "linux/base/paths.hpp"
#include "linux/process/clone.hpp"
#include "runtime/base/rollback.hpp"

namespace ocirun::runtime {

/// Where the caller wants to be told of the process that was made for it.
struct Announcement {
  std::optional<HostPath> pid_file;      // its pid in decimal, replaced at once, mode 0644
  std::optional<HostPath> pidfd_socket;  // a stream socket somebody listens at: gets a pidfd

  /// What `undo` runs takes the pid file away again. Errors name the option.
  Result<void> tell(const linux::Child& process, Rollback& undo) const;
  void take_back() const;
};

}  // namespace ocirun::runtime
