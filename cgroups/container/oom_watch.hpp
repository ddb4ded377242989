#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::cgroups {

class Node;

/// Reports when the kernel runs out of a cgroup's memory: on v1 by an eventfd on
/// memory.oom_control, on v2 by polling memory.events. The caller polls fd() and then calls
/// happened().
class OomWatch {
 public:
  /// Errors: the host has no memory controller, in neither hierarchy; the cgroup is gone.
  static Result<OomWatch> open(std::span<const Node> nodes);

  Fd fd() const { return fd_; }
  short poll_events() const;  // POLLIN or POLLPRI
  /// Whether an out-of-memory event has happened since the last call. False after the wakeup that
  /// the removal of a cgroup causes.
  bool happened();

 private:
  OomWatch() = default;
  UniqueFd fd_, control_;  // v1: the eventfd, memory.oom_control; v2: memory.events
  std::uint64_t kills_ = 0;
};

/// The number of processes of a cgroup that the OOM killer has killed so far. Nothing if the kernel
/// does not count them (no memory controller, v1 before Linux 4.13).
std::optional<std::uint64_t> count_oom_kills(std::span<const Node> nodes);

}  // namespace ocirun::cgroups
