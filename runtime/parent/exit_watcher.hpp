#pragma once

#include <map>
#include <string>

#include "bundle/documents/state.hpp"
#include "linux/base/error.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

/// Whether the annotations ask for the record of the container's end (bundle::kRecordExit). Errors:
/// the annotation is neither "true" nor "false".
Result<bool> records_exit(const std::map<std::string, std::string>& annotations);

/// Clones the process that waits for the end of init, writes life.json, and ends. The process is
/// outside of the container, has no open files but the state directory and a pidfd, and outlives
/// the caller. If the container is deleted, the process ends without a record. Errors: those of
/// clone(2); ESRCH: init has ended.
Result<void> spawn_exit_watcher(const StateDirectory& directory,
                                const bundle::ContainerRecord& record);

/// Records that the container's program begins now, if the container records its end.
Result<void> record_start(const StateDirectory& directory, const bundle::ContainerRecord& record);

}  // namespace ocirun::runtime
