#pragma once

#include "bundle/documents/state.hpp"

namespace ocirun::runtime {

using bundle::Status;
using bundle::status_name;

// runtime.md#operations: which operations a status allows (OP-3 … OP-5).
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
constexpr bool can_checkpoint(Status status) {
  return status == Status::kRunning || status == Status::kPaused;
}
constexpr bool can_resume(Status status) { return status == Status::kPaused; }

}  // namespace ocirun::runtime
