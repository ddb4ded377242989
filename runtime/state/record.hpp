#pragma once

#include <memory>

#include "bundle/documents/state.hpp"
#include "cgroups/container/cgroup.hpp"
#include "linux/base/error.hpp"

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

// Facts that every command derives from a container's record.

/// The state document (runtime.md#state) of the record, without a status: hooks get the document on
/// stdin, `state` prints it.
bundle::StateDocument document_of(const bundle::ContainerRecord& record);

/// The cgroup that the record names, of the cgroupfs driver or the systemd driver.
Result<std::unique_ptr<cgroups::Cgroup>> cgroup_of(const bundle::ContainerRecord& record);
/// Whether the container's cgroup is frozen. False also if the state of the freezer cannot be read.
bool is_frozen(const bundle::ContainerRecord& record);
/// Whether the record names no cgroup of the container's own. The reason is
/// --cgroup-manager=disabled, a cgroup that could not be made (go_without_cgroup()), or a lost
/// record without a mark (remove.hpp).
bool is_without_cgroup(const bundle::ContainerRecord& record);

}  // namespace ocirun::runtime
