#pragma once

#include <string>

#include "bundle/documents/state.hpp"
#include "linux/base/error.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

/// If the container records its end (bundle::kRecordExit), clones the process that waits for the
/// end of init, writes life.json, and ends. The process is outside of the container, has no open
/// files but the state directory, a pidfd and the container's cgroup, and outlives the caller. If
/// the container is deleted, the process ends without a record. Errors: those of clone(2); ESRCH:
/// init has ended.
Result<void> spawn_exit_watcher(const StateDirectory& directory,
                                const bundle::ContainerRecord& record);

/// Records that the container's program began at `time`, if the container records its end.
Result<void> record_start(const StateDirectory& directory, const bundle::ContainerRecord& record,
                          const std::string& time);

}  // namespace ocirun::runtime
