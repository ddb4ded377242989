#pragma once

#include <string_view>

namespace ocirun::runtime {

/// runtime.md#state, and `paused` as an additional value. kUnknown: a state directory that says
/// nothing usable.
enum class Status { kCreating, kCreated, kRunning, kPaused, kStopped, kUnknown };

constexpr std::string_view status_name(Status status) {
  switch (status) {
    case Status::kCreating:
      return "creating";
    case Status::kCreated:
      return "created";
    case Status::kRunning:
      return "running";
    case Status::kPaused:
      return "paused";
    case Status::kStopped:
      return "stopped";
    case Status::kUnknown:
      return "unknown";
  }
  return "";
}

// runtime.md#operations: what may be asked of a container, by its status (OP-3 … OP-5).
constexpr bool can_start(Status status) { return status == Status::kCreated; }
constexpr bool can_kill(Status status) {
  return status == Status::kCreated || status == Status::kRunning || status == Status::kPaused;
}
constexpr bool can_delete(Status status) { return status == Status::kStopped; }
constexpr bool can_exec(Status status) {
  return status == Status::kCreated || status == Status::kRunning;
}
constexpr bool can_pause(Status status) {
  return status == Status::kCreated || status == Status::kRunning;
}
constexpr bool can_update(Status status) { return can_kill(status); }
constexpr bool can_resume(Status status) { return status == Status::kPaused; }

}  // namespace ocirun::runtime
