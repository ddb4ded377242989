#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::cgroups {

class Node;

/// Tells when the kernel runs out of a cgroup's memory: v1 by an eventfd on memory.oom_control, v2
/// by a poll of memory.events. A descriptor to wait for, and a question to ask then.
class OomWatch {
 public:
  /// Errors: the host has no memory controller, in neither hierarchy; the cgroup is gone.
  static Result<OomWatch> open(std::span<const Node> nodes);

  Fd fd() const { return fd_; }
  short poll_events() const;  // POLLIN or POLLPRI
  /// Whether it happened since the last call; a cgroup that is removed wakes the waiter for
  /// nothing.
  bool happened();

 private:
  OomWatch() = default;
  UniqueFd fd_, control_;  // v1: the eventfd, memory.oom_control; v2: memory.events
  std::uint64_t kills_ = 0;
};

/// How many processes of a cgroup the OOM killer has ended so far; nothing where nobody counts them
/// (no memory controller, v1 before Linux 4.13).
std::optional<std::uint64_t> count_oom_kills(std::span<const Node> nodes);

}  // namespace ocirun::cgroups
